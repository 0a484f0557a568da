/**
 * The promises about idempotency keys (contract §4).
 */
import { type Blame, day, endOf, grouped } from "./Broken.ts"
import type { Send } from "./History.ts"
import { canonical, isRecord, parsed } from "./Json.ts"

/** A send, and what its response shows. */
export interface Answered {
  readonly send: Send
  /** The request's body, with the fields of objects in one order. */
  readonly body: string
  /** Only of a response with status 200 or 202. */
  readonly messageId: string | undefined
  readonly answer: Readonly<Record<string, unknown>>
  /** Whether repetitions must get this response. */
  readonly isStored: boolean
  /** Whether the response shows that the key is bound to this body. */
  readonly isBound: boolean
}

const finalReasons: ReadonlySet<unknown> = new Set(["undeliverable", "provider_policy", "template_params_mismatch"])
const unknownReasons: ReadonlySet<unknown> = new Set(["outcome_unknown", "delivery_unknown"])

export const answered = (send: Send): Answered => {
  const answer = parsed(send.answer)
  const error = isRecord(answer["error"]) ? answer["error"] : {}
  const isTaken = send.status === 200 || send.status === 202
  const isRefusedForGood = error["provider"] !== undefined && finalReasons.has(error["reason"])
  const messageId = answer["message_id"]
  // a message to be sent later may not have been queued, if the storage did not confirm it
  const isForLater = send.respond_async === true || (isRecord(send.body) && "send_at" in send.body)
  const isUnknown = send.status === 504 && unknownReasons.has(error["reason"]) && !isForLater
  return {
    send,
    body: JSON.stringify(canonical(send.body)),
    messageId: isTaken && typeof messageId === "string" ? messageId : undefined,
    answer,
    isStored: isTaken || isRefusedForGood,
    isBound: isTaken || isRefusedForGood || isUnknown
  }
}

/** Identifies the idempotency key of a send: each workspace has its own keys. */
export const keyOf = ({ send }: Answered): string => JSON.stringify([send.workspace, send.key])

const checkKey = (sends: ReadonlyArray<Answered>, clockError: number, blame: Blame): void => {
  // a day after the first request that can have bound the key: a later request may have bound it again
  let closesAt = -Infinity
  let nextBegun: number | undefined
  let holder: Answered | undefined
  let stored: Answered | undefined
  let fresh: Answered | undefined
  for (const each of sends) {
    const { begun } = each.send
    if (begun >= closesAt) nextBegun ??= begun
    if (!each.isBound) continue
    const isOpen = holder !== undefined && begun < closesAt
    if (!isOpen && (holder === undefined || each.messageId === undefined || each.messageId !== stored?.messageId)) {
      closesAt = (nextBegun ?? begun) + day - clockError
      nextBegun = undefined
      holder = each
      stored = fresh = undefined
    }
    if (holder!.body !== each.body) {
      blame("other-body-conflicts", "two bodies were accepted under one key", holder!.send, each.send)
      continue
    }
    if (!each.isStored) continue
    if (!each.send.replayed && fresh !== undefined) {
      blame("same-answer", "two answers under one key are not marked as replayed", fresh.send, each.send)
    }
    if (!each.send.replayed) fresh ??= each
    if (stored === undefined) stored = each
    else if (stored.messageId !== each.messageId) {
      blame("one-message-per-key", "one key has two messages", stored.send, each.send)
    } else if (stored.send.status !== each.send.status || stored.send.answer !== each.send.answer) {
      blame("same-answer", "a repetition has another answer", stored.send, each.send)
    }
  }
}

/** Checks the promises of §4 about idempotency keys. */
export const checkKeys = (sends: ReadonlyArray<Answered>, clockError: number, blame: Blame): void => {
  for (const group of grouped(sends, keyOf).values()) {
    checkKey(group, clockError, blame)
    const bodies = grouped(group, ({ body }) => body)
    const firsts = [...bodies.values()].map(([first]) => first!)
    for (const { body, send } of group) {
      // the two that begin first are enough: one of them has another body
      const other = firsts.slice(0, 2).find((first) => first.body !== body)
      if (send.status === 409 && !(other !== undefined && other.send.begun <= endOf(send) + clockError)) {
        blame("conflict-has-another-body", "409 without another body under the key", send)
      }
    }
  }
  for (const group of grouped(sends.filter(({ messageId }) => messageId !== undefined), (a) => a.messageId!).values()) {
    const other = group.find((each) => keyOf(each) !== keyOf(group[0]!))
    if (other !== undefined) blame("one-message-per-key", "one message has two keys", group[0]!.send, other.send)
  }
}
