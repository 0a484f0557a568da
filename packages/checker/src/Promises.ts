/**
 * The promises of the contract that a history can show to be broken.
 */

/** A promise: the section of the contract that makes it, and its words. */
export interface ContractPromise {
  readonly section: number
  readonly says: string
}

/** Every promise that is checked, by name. */
export const promises = {
  "one-provider-call": {
    section: 3,
    says: "After a provider call that accepted, refused or may have sent a message, the message is never sent again."
  },
  "sent-was-accepted": {
    section: 3,
    says: "An answer says `sent` only if the provider accepted the message, or reported it."
  },
  "best-report": {
    section: 3,
    says: "In the end, a message has the best status that the provider reported, in whatever order."
  },
  "every-send-ends": {
    section: 3,
    says:
      "Every send has an outcome: a message whose outcome is unknown fails; one that waits is sent, fails, or is cancelled or skipped."
  },
  "status-never-falls": {
    section: 3,
    says: "A message that was sent, failed, delivered, read, cancelled or skipped never has a lower status later."
  },
  "corrections": {
    section: 3,
    says: "The event after `message.failed` carries `corrects`, and no event without a failure before it does."
  },
  "one-message-per-key": {
    section: 4,
    says: "An idempotency key has one message for 24 hours, and a message has one key."
  },
  "same-answer": {
    section: 4,
    says: "A repetition gets the stored status and body, byte for byte, marked as replayed."
  },
  "other-body-conflicts": {
    section: 4,
    says: "A key that is bound to one body never accepts another."
  },
  "conflict-has-another-body": {
    section: 4,
    says: "409 is only for another body under the same key."
  },
  "every-event": {
    section: 6,
    says: "Every accepted message has its events, and so has every report that was acknowledged."
  },
  "received-once": {
    section: 6,
    says:
      "A customer's message that was acknowledged within 30 days has exactly one `message.received`, however often it is posted."
  },
  "event-once": {
    section: 6,
    says: "`message.sent`, `message.delivered` and `message.read` occur once for each message."
  },
  "event-order": {
    section: 6,
    says: "`data.sequence` grows by one for each event of a message, in the order sent, delivered, read."
  },
  "event-fixed": {
    section: 6,
    says: "The id and the body of an event never change over attempts, and are those that are listed."
  },
  "delivered-in-order": {
    section: 6,
    says: "An event of a message waits until the one before it is delivered, exhausted or skipped."
  },
  "delivered-at-least-once": {
    section: 6,
    says: "Every event since the webhook was set is delivered, unless it is exhausted, skipped or held."
  },
  "retried-for-a-day": {
    section: 6,
    says: "A delivery is exhausted 24 hours after its first attempt, and not before."
  },
  "genuine-signature": {
    section: 5,
    says: "Every attempt is signed with a live secret of its webhook."
  },
  "service-window": {
    section: 7,
    says: "A free-form message is sent only within 24 hours after its customer wrote to that number."
  },
  "quota": {
    section: 7,
    says: "In a calendar month, a workspace sends no more messages than its quota, those that failed not counted."
  },
  "campaign-once": {
    section: 11,
    says: "A campaign writes once to a customer, under whichever of their names."
  },
  "campaign-counts": {
    section: 11,
    says: "The counts of a campaign add up to its total, its customers, and are what became of its messages in the end."
  },
  "campaign-completed": {
    section: 11,
    says: "A campaign ends once nobody is left in its queue, with one event `campaign.completed`, and not before."
  },
  "campaign-stopped": {
    section: 11,
    says: "A campaign that is paused or cancelled sends nothing, until it is resumed."
  },
  "opt-out": {
    section: 13,
    says: "After an opt-out, no free-form message and no marketing template is sent, under whichever name."
  },
  "not-before-send-at": {
    section: 15,
    says: "The provider is never called before `send_at`."
  },
  "not-after-send-until": {
    section: 15,
    says: "The provider is never called after `send_until`, nor for a campaign after its `notAfter`."
  },
  "cancelled-is-never-sent": {
    section: 15,
    says: "After a cancellation was answered with 200, the message has no provider call and no event, ever."
  },
  "handled-at-least-once": {
    section: 16,
    says: "A subscription handles every event since its name was first used, unless it is set aside."
  },
  "handled-in-order": {
    section: 16,
    says: "A subscription handles an event of a message after the one before it is handled or set aside."
  },
  "repetition-is-told": {
    section: 16,
    says: "A handler gets an `attempt` above 1 for an event of which a try may have been begun before."
  }
} as const satisfies Readonly<Record<string, ContractPromise>>

/** The name of a promise. */
export type PromiseName = keyof typeof promises
