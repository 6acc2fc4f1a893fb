/// Why something could not be done. The properties of a code, such as its message, remedy and retries, are a row of
/// `FailureTable.swift`. A new code does not compile without one.
///
/// Raw values are names in status, metrics and the journal: never rename one.
package enum FailureCode: String, Hashable, Sendable, CaseIterable {
    // Keys and their passphrases.
    case keyMissing = "key_missing"
    case keyUnreadable = "key_unreadable"
    /// Owner or mode of the file or a directory above it let others use or replace it; detail: the component.
    case keyNotGuarded = "key_not_guarded"
    case keyEmpty = "key_empty"
    case keyTruncated = "key_truncated"
    case keyTooLarge = "key_too_large"
    case keyNotPEM = "key_not_pem"
    case keyIsPublic = "key_is_public"
    case keyIsCertificate = "key_is_certificate"
    case keyIsRSA = "key_is_rsa"
    /// A key of an algorithm without EC curves, other than RSA; detail: the algorithm.
    case keyNotEC = "key_not_ec"
    /// An EC key on another curve; detail: the curve.
    case keyWrongCurve = "key_wrong_curve"
    /// `EC PRIVATE KEY` (SEC1) instead of PKCS#8.
    case keyIsSEC1 = "key_is_sec1"
    case keyMalformed = "key_malformed"
    case keyNeedsPassphrase = "key_needs_passphrase"
    case keyWrongPassphrase = "key_wrong_passphrase"
    /// Its encryption takes more work to open than the daemon allows; detail: how much.
    case keyTooCostly = "key_too_costly"
    /// The file holds another key than before under the same key id; detail: both keys.
    case keyChanged = "key_changed"
    case passphraseUnusable = "passphrase_unusable"
    case credentialMissing = "credential_missing"
    // Minting.
    case signingFailed = "signing_failed"
    /// The secret just minted did not pass the check with the key's public half.
    case selfCheckFailed = "self_check_failed"
    // Paths and files.
    /// The file does not exist; for a directory this is `directoryMissing`. Never reported as such (``isReported``). The caller
    /// that wanted the file reports its purpose, such as a key (`keyMissing`).
    case missing
    /// Owner or mode lets another user read a key, or decide which users may use one. Reported as `keyNotGuarded` or another
    /// code.
    case notGuarded = "not_guarded"
    case directoryMissing = "directory_missing"
    case notADirectory = "not_a_directory"
    case permissionDenied = "permission_denied"
    case readOnlyFileSystem = "read_only_file_system"
    case diskFull = "disk_full"
    case quotaExceeded = "quota_exceeded"
    case ioError = "io_error"
    case isDirectory = "is_directory"
    case isMountPoint = "is_mount_point"
    /// Or append-only, as the detail then says.
    case isImmutable = "is_immutable"
    /// A FIFO, device or socket; detail: which.
    case notARegularFile = "not_a_regular_file"
    /// A key, passphrase, program, configuration or file of the state directory, possibly through links.
    case outputIsInput = "output_is_input"
    /// Two outputs name one file by different paths; detail: the other one.
    case sameFile = "same_file"
    case fileTooLarge = "file_too_large"
    /// The file is another user's; detail: the owner.
    case foreignOwner = "foreign_owner"
    /// A link that is not followed; detail: the component and its owner.
    case untrustedLink = "untrusted_link"
    /// A directory that others may write to and that has no sticky bit; detail: the directory.
    case unguardedDirectory = "unguarded_directory"
    case tooManyLinks = "too_many_links"
    case unknownUser = "unknown_user"
    case unknownGroup = "unknown_group"
    /// The user may not give the file this group; detail: the group.
    case groupNotPermitted = "group_not_permitted"
    case attributesNotKept = "attributes_not_kept"
    /// `check` found a unit's ProtectSystem=, ProtectHome= or similar in the way; detail: the unit and setting.
    case outsideSandbox = "outside_sandbox"
    /// systemd could not start the unit, which may run now; detail: the missing requirement.
    case unitCannotStart = "unit_cannot_start"
    /// A unit takes another secret from the daemon than the configuration gives it; detail: the line and the difference.
    case unitMismatch = "unit_mismatch"
    /// Another program changed the file faster than it could be merged.
    case changedMeanwhile = "changed_meanwhile"
    /// Another program has the file open for writing.
    case openForWriting = "open_for_writing"
    /// The output's format cannot read the file's content, or cannot write into it safely; detail: the line and why.
    case outputMalformed = "output_malformed"
    /// The daemon has never written the file, and it holds something else than a secret in the output's format; detail: the
    /// content.
    case outputForeign = "output_foreign"
    case nameTooLong = "name_too_long"
    case outOfDescriptors = "out_of_descriptors"
    case outOfMemory = "out_of_memory"
    /// No further thread or process could be started.
    case outOfTasks = "out_of_tasks"
    case notResponding = "not_responding"
    case systemError = "system_error"
    /// A shared file that held other lines was deleted: it is not recreated with only the secret.
    case outputDeleted = "output_deleted"
    /// A shared file that held other lines was emptied of them: it is not written with only the secret.
    case outputEmptied = "output_emptied"
    case contested = "contested"
    // User writers, which write other users' files.
    /// No process listens; detail: the socket.
    case writerMissing = "writer_missing"
    /// The writer takes no requests from this user, or the process listening on its socket is not trusted.
    case writerNotPermitted = "writer_not_permitted"
    /// No answer in time, or none at all; detail: the writer's user.
    case writerSilent = "writer_silent"
    /// A malformed answer; detail: the problem.
    case writerGarbled = "writer_garbled"
    /// The configuration that the writer reads does not allow the write; detail: why.
    case writerRefused = "writer_refused"
    /// The writer cannot read the configuration, or does not accept it; detail: why.
    case writerUnconfigured = "writer_unconfigured"
    // The state directory.
    case stateUnusable = "state_unusable"
    case stateDamaged = "state_damaged"
    case stateNewer = "state_newer"
    case stateLocked = "state_locked"
    // Actions.
    /// detail: the exit status or signal.
    case actionFailed = "action_failed"
    case actionTimedOut = "action_timed_out"
    case actionNotStarted = "action_not_started"
    case actionInterrupted = "action_interrupted"
    // Requests to systemd about units.
    /// remedy: the missing polkit rule.
    case unitNotPermitted = "unit_not_permitted"
    /// The same, and polkit is not installed.
    case polkitMissing = "polkit_missing"
    /// polkit does not answer systemd; detail: why.
    case polkitFailed = "polkit_failed"
    case unitUnknown = "unit_unknown"
    case unitMasked = "unit_masked"
    /// detail: systemd's words.
    case unitRefused = "unit_refused"
    /// The unit has failed, and the requested verb or signal does not start it.
    case unitFailed = "unit_failed"
    /// The unit ended after the order.
    case unitEnded = "unit_ended"
    case busUnreachable = "bus_unreachable"
    case jobFailed = "job_failed"
    case jobTimedOut = "job_timed_out"
    case jobCanceled = "job_canceled"
    case jobDependency = "job_dependency"
    case jobSkipped = "job_skipped"
    // A client's health while no job has failed.
    case noSecret = "no_secret"
    /// Not because it has expired; detail: why.
    case secretUnacceptable = "secret_unacceptable"
    /// detail: when.
    case secretExpired = "secret_expired"
    /// In the last third of `renew_before`; detail: when it expires.
    case secretExpiring = "secret_expiring"
    /// Still valid, but it should have been replaced; detail: since when.
    case renewalOverdue = "renewal_overdue"
    /// The key cannot be read, so a secret with its id may be forged.
    case signatureUnchecked = "signature_unchecked"
    /// The user that runs the command may not read the output.
    case notReadable = "not_readable"
    /// The client has no output that could be read without asking the daemon.
    case noOutputs = "no_outputs"
    /// The daemon has not looked there since it started.
    case notChecked = "not_checked"
    /// detail: the place in which it is missing.
    case notPublished = "not_published"
    case notDelivered = "not_delivered"
    // Places from which clients without a private key receive their secrets.
    /// detail: why its secret is not received.
    case sourceStale = "source_stale"
    /// It holds no secret of this client that a configured key has signed; detail: its content.
    case sourceWrong = "source_wrong"
    case sourceMissing = "source_missing"
    /// detail: why.
    case sourceUnreadable = "source_unreadable"
    // The store.
    /// The store role's configuration has no usable `store`; detail: why.
    case storeUnconfigured = "store_unconfigured"
    /// detail: which file, and why.
    case storeFileUnusable = "store_file_unusable"
    /// Another user may decide what a file for the store holds; detail: which file, and who.
    case storeFileNotGuarded = "store_file_not_guarded"
    case storeCredentialsRefused = "store_credentials_refused"
    /// etcd requires a user, and the configuration names none.
    case storeUserMissing = "store_user_missing"
    /// The configuration names a user, and etcd has its authentication off.
    case storeUserUnknown = "store_user_unknown"
    case storeCertificateRefused = "store_certificate_refused"
    /// It is still accepted; detail: when it expires.
    case storeCertificateExpiring = "store_certificate_expiring"
    case storeServerUntrusted = "store_server_untrusted"
    case storeForbidden = "store_forbidden"
    case storeOutOfSpace = "store_out_of_space"
    case storeUnreachable = "store_unreachable"
    /// A member was reached, and TLS with it fails; detail: how.
    case storeTLSFailed = "store_tls_failed"
    case storeTimedOut = "store_timed_out"
    case storeUnavailable = "store_unavailable"
    case storeAnswerUnexpected = "store_answer_unexpected"
    case storeSecretTooLong = "store_secret_too_long"
    /// Another daemon reports under the name of this machine; detail: the name.
    case storeMachineShared = "store_machine_shared"
    /// A rollout is held: no further machine notifies its applications; detail: which machines fail.
    case rolloutHeld = "rollout_held"
    /// No process listens, or none that is trusted; detail: the socket.
    case storeServiceMissing = "store_service_missing"
    /// No answer in time, none at all, or a malformed one.
    case storeServiceSilent = "store_service_silent"
    /// `public_key` is no point on P-256.
    case publicKeyUnusable = "public_key_unusable"
    // Apple's verdict on a new secret.
    /// detail: the error code that Apple answered with.
    case refusedByApple = "refused_by_apple"
    /// detail: why.
    case verdictUnknown = "verdict_unknown"
    /// No process listens, or none that is trusted; detail: the socket.
    case verifierMissing = "verifier_missing"
    /// No answer in time, none at all, or a malformed one.
    case verifierSilent = "verifier_silent"
    // Places behind an API.
    /// The push role's configuration is not accepted, or its settings cannot be used; detail: why.
    case pushUnconfigured = "push_unconfigured"
    /// The push role's configuration has no such target; detail: which one it reads.
    case pushTargetUnknown = "push_target_unknown"
    /// detail: the problem with the token, never its text.
    case pushTokenUnusable = "push_token_unusable"
    /// The `ca_file` of the target cannot be used; detail: which file, and why.
    case pushFileUnusable = "push_file_unusable"
    /// Another user may decide what a token's or a certificate's file holds; detail: which file, and who.
    case pushFileNotGuarded = "push_file_not_guarded"
    /// The API does not accept the token, or the token may not even read there; detail: its message.
    case pushCredentialsRefused = "push_credentials_refused"
    /// The API refuses a signature whose time differs from its own clock; detail: how far the clocks are apart.
    case pushClockRefused = "push_clock_refused"
    /// The API wants a second factor of the user whose password the token is.
    case pushSecondFactorWanted = "push_second_factor_wanted"
    /// The API accepts the token and refuses this change; detail: its message.
    case pushChangeRefused = "push_change_refused"
    /// There is no such project, secret, collection or path; detail: the API's message.
    case pushPlaceMissing = "push_place_missing"
    case pushRateLimited = "push_rate_limited"
    /// The quota of the place is used up, which waiting does not change; detail: the API's message.
    case pushQuotaExceeded = "push_quota_exceeded"
    /// The API has an internal error; detail: its message.
    case pushServerFailed = "push_server_failed"
    case pushUnreachable = "push_unreachable"
    /// The API was reached, and TLS with it fails, or it demands a certificate of this machine; detail: how.
    case pushTLSFailed = "push_tls_failed"
    case pushTimedOut = "push_timed_out"
    case pushCertificateRefused = "push_certificate_refused"
    case pushRedirected = "push_redirected"
    /// Another program kept changing the place while it was written.
    case pushConflict = "push_conflict"
    /// The API did not accept the request; detail: its message.
    case pushRejected = "push_rejected"
    case pushAnswerUnexpected = "push_answer_unexpected"
    /// A target's `done` does not list the status of success that the API answers with; detail: which.
    case pushStatusNotListed = "push_status_not_listed"
    /// The API took the secret and has shown another one for five minutes.
    case pushNotKept = "push_not_kept"
    /// The place holds something of another kind, which is not replaced; detail: its content.
    case pushPlaceUnsuitable = "push_place_unsuitable"
    /// The place shows the client id of another client; detail: both ids.
    case pushOtherClient = "push_other_client"
    /// The API took the secret, and shows that applications do not use the place; detail: the evidence.
    case pushSwitchedOff = "push_switched_off"
    /// The object can never be changed.
    case pushImmutable = "push_immutable"
    /// The API wants other providers' secrets, which it never shows, with this one.
    case pushOthersBlank = "push_others_blank"
    /// The variable is there for other environments; detail: for which.
    case pushEnvironmentsConflict = "push_environments_conflict"
    /// The deployment that should get the secret does not run; detail: its outcome.
    case pushDeploymentFailed = "push_deployment_failed"
    /// The new deployment was cancelled before it ran.
    case pushDeploymentCancelled = "push_deployment_cancelled"
    /// Production serves a deployment from before the push, such as after a rollback; detail: when it began.
    case pushDeploymentOutdated = "push_deployment_outdated"
    /// No process listens for the target; detail: the socket.
    case pushServiceMissing = "push_service_missing"
    /// No answer in time, none at all, or a malformed one.
    case pushServiceSilent = "push_service_silent"
    // The clock.
    case clockBeforeBuild = "clock_before_build"
    case clockDoubtful = "clock_doubtful"
    /// The kernel does not call it synchronised, and by it a secret should be replaced that may still be valid.
    case clockPerhapsAhead = "clock_perhaps_ahead"
    // The daemon itself.
    case configurationRefused = "configuration_refused"
    /// The file is valid by now, but the daemon still uses the one last adopted before its start.
    case configurationNotAdopted = "configuration_not_adopted"
    /// Root's copy for a start with a broken configuration is of an older one.
    case configurationNotKept = "configuration_not_kept"
    case socketUnusable = "socket_unusable"
    /// The same for the socket from which units load credentials.
    case credentialSocketUnusable = "credential_socket_unusable"
    /// detail: the obstacle to writing it, as for an output.
    case metricsFileUnwritable = "metrics_file_unwritable"
    /// The kernel gives this user no inotify instance.
    case noNotices = "no_notices"
}

extension FailureCode {
    /// Whether a failure may have this code. The others are only between the code that opens files and its callers, which know
    /// the file's purpose.
    package var isReported: Bool { self != .missing && self != .notGuarded }
}
