/// The promises about a fleet, each checked at every step of each of its machines.
package enum FleetPromise: String, Sendable, CaseIterable {
    /// No output ever holds what no pinned key has signed.
    case genuine
    /// No machine that was offered a better secret for five minutes holds an expired or older one, nor an application of
    /// its; and a signer's is never overdue.
    case fresh
    /// Within one key a machine's secret never goes back, nor does a signer put an earlier one over a later.
    case forward
    /// A signer mints when its secret is due, and once for each renewal; not beside one that it sees in the store. It puts
    /// one secret there three times an hour, and then every ten minutes at most.
    case calm
    /// What is offered, or is not offered any more, never empties or removes an output.
    case kept
    /// No more machines deliver than may at once, nor any before the canaries were watched; whatever the signers think.
    case bounded
    /// After a canary has failed no further machine delivers, nothing but an order has a held rollout go on, and a machine
    /// that is not admitted delivers nothing before the deadline.
    case held
    /// Two hours after the last fault all machines hold one secret, which is in the store, and nothing keeps its rollout from
    /// being finished.
    case agree
    /// Health, the state of the source and how many machines hold what are as somebody would say who sees everything.
    case honest
    /// No part of a core contradicts itself, and no wake lies in the past.
    case state
}

typealias FleetViolation = BrokenPromise<FleetPromise>
