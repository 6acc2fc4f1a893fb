import Rotation

// Records the positions of drafts.

extension Positions {
    mutating func note(_ key: KeyDraft) {
        note(key.location.placed, as: .key(key.name.value))
        note(key.passphrase.placed, as: .passphrase(key.name.value))
    }

    private mutating func note(_ location: Placed<KeyConfiguration.Location>?, as subject: Positions.Subject) {
        guard let location else { return }
        note(subject, at: location.position)
        switch location.value {
        case .file(let path): note(.path(path), at: location.position)
        case .credential(let name): note(.credential(name), at: location.position)
        }
    }

    mutating func note(_ client: ClientDraft) {
        let name = client.name.value
        note(.client(name), at: client.name.position)
        for output in client.settings.outputs.value?.compactMap({ $0 }) ?? [] {
            if let path = output.path.placed {
                note(.output(name, path.value), at: path.position)
                note(.path(path.value), at: path.position)
                if let group = output.group.placed {
                    note(.outputGroup(name, path.value), at: group.position)
                }
            }
            if let owner = output.owner.placed { note(.user(owner.value), at: owner.position) }
            if let group = output.group.placed { note(.group(group.value), at: group.position) }
        }
        note(client.settings.onChange)
        if let verify = client.settings.verify.placed { note(.verify(name), at: verify.position) }
        if let credential = client.settings.credential.placed {
            note(.servedCredential(name), at: credential.position)
        }
    }

    private mutating func note(_ actions: Setting<[Placed<Action>?]>) {
        for action in actions.value?.compactMap({ $0 }) ?? [] {
            note(.action(action.value.id), at: action.position)
            if case .exec(let arguments, _) = action.value, let program = arguments.first.flatMap({ AbsolutePath($0) })
            {
                note(.path(program), at: action.position)
            }
        }
    }

    mutating func note(_ main: FileDraft) {
        note(main.onStateChange)
        if let group = main.controlGroup.placed {
            note(.controlGroup, at: group.position)
            note(.group(group.value), at: group.position)
        }
        if let directory = main.stateDirectory.placed {
            note(.stateDirectory, at: directory.position)
            note(.path(directory.value), at: directory.position)
        }
        if let file = main.metricsFile.placed { note(.path(file.value), at: file.position) }
    }
}
