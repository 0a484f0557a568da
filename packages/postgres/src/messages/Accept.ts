/**
 * *accept* as `wac_accept` takes and answers it: what the sends of a batch have in common is told once, in both
 * directions.
 */
import {
  ApiKey,
  Contact,
  Limits,
  type Message,
  MessageStore,
  PhoneNumber,
  Policy,
  Quota,
  RateLimit,
  StorageTime,
  type Template,
  type Time,
  Workspace
} from "@wac/core"
import type { Asked } from "../Asked.ts"
import type { Given } from "../Database.ts"
import { limitsOf } from "../limits/WrittenLimits.ts"
import { type StoredVerdict, verdictOf } from "./StoredVerdict.ts"

/** What sends of a batch have in common; `limits` is where theirs are among those of the batch. */
const kindOf = (
  { apiKeyId, message, now, provider, request }: MessageStore.AcceptSend,
  limits: number,
  asked: Asked
) => ({
  workspace_id: request.workspaceId,
  route: request.route,
  api_key_id: apiKeyId,
  month: asked(now) === undefined ? null : Quota.monthOf(now),
  provider,
  sender: message.from,
  template: message.type === "template" ? message.template.name : null,
  language: message.type === "template" ? message.template.language : null,
  given_values: message.type === "template" ? message.template.bodyParams?.length ?? 0 : null,
  limits
})

type Kind = ReturnType<typeof kindOf>

const isSameKind = (one: Kind, other: Kind): boolean =>
  one.workspace_id === other.workspace_id && one.template === other.template && one.sender === other.sender &&
  one.provider === other.provider &&
  one.api_key_id === other.api_key_id && one.route === other.route && one.month === other.month &&
  one.language === other.language && one.given_values === other.given_values && one.limits === other.limits

/** Where a value is in a list, to whose end it goes if it is not there yet. */
const placeIn = <A>(list: Array<A>, value: A, isSame: (one: A, other: A) => boolean = Object.is): number => {
  const place = list.findIndex((one) => isSame(one, value))
  return place < 0 ? list.push(value) - 1 : place
}

/** A command for `wac_accept`. */
const sendOf = (
  { claimToken, leaseUntil, message, messageId, now, request }: MessageStore.AcceptSend,
  kind: number,
  hasTwin: boolean,
  asked: Asked
) => ({
  kind,
  now: asked(now),
  key: request.key,
  fingerprint: request.fingerprint,
  message_id: messageId,
  claim_token: claimToken,
  lease: leaseUntil - now,
  content: message,
  customer: Contact.keyOf(message.to),
  ...(hasTwin ? { has_twin: true } : {})
})

/** What the database found for a kind. */
interface Found {
  readonly tier: Workspace.Workspace["tier"]
  readonly sender: PhoneNumber.PhoneNumber | null
  readonly template: Template.Template | null
}

/** The state of each bucket that was consulted, before a token was asked for. */
interface Consulted {
  readonly workspaceFullAt: Time.Instant
}

interface CallConsulted extends Consulted {
  readonly numberFullAt: Time.Instant
  readonly pairFullAt: Time.Instant
}

/** What `wac_accept` answers for a send. */
type Answer =
  | { readonly _tag: "Stranger" }
  | {
    readonly _tag: "Barred"
    readonly revokedAt: Time.Instant | null
    readonly expiresAt: Time.Instant | null
    readonly suspended: boolean
  }
  | { readonly _tag: "Limited" } & (Consulted & { readonly numberFullAt?: never } | CallConsulted)
  | { readonly _tag: "Judged"; readonly verdict: StoredVerdict } & Consulted
  | {
    readonly _tag: "Refused"
    readonly contact: Contact.Contact | null
    readonly quota: number | null
    readonly quotaUsed: number
    readonly messagingLimit: number | null
    readonly customersCounted: number
    readonly customerCounted: boolean
  } & Consulted
  | {
    readonly _tag: "Claimed"
    readonly contact: Contact.Contact | null
    /** The message of the try before. */
    readonly before: Message.Message | null
  } & CallConsulted

type Refusal = Extract<MessageStore.Accepted, { readonly _tag: "Refused" }>["error"]

/** What `wac_accept` answers. */
interface Told {
  /** The time at which the batch was judged, unless its commands bring theirs. */
  readonly at: Time.Instant
  /** By kind. */
  readonly found: ReadonlyArray<Found>
  readonly answers: ReadonlyArray<Answer>
}

/** What `wac_accept` says of a send. */
export interface Answered {
  readonly at: Time.Instant
  readonly found: Found
  readonly answer: Answer
}

/** The answer in the domain's words: the database says what it found, core what that means. */
export const acceptedOf = (asked: MessageStore.AcceptSend, { answer, at, found }: Answered): MessageStore.Accepted => {
  const command = StorageTime.judgedAt(asked, at)
  const { limits, message: content, now } = command
  const { sender, template, tier } = found
  const reading = (policy: RateLimit.Policy, fullAt: Time.Instant) => RateLimit.take(policy, fullAt, now).reading
  const ofWorkspace = ({ workspaceFullAt }: Consulted) => reading(Limits.workspace(limits, tier), workspaceFullAt)
  const ofCall = (consulted: CallConsulted) => [
    ofWorkspace(consulted),
    reading(Limits.phoneNumber(limits, sender === null ? null : PhoneNumber.tierOf(sender)), consulted.numberFullAt),
    reading(Limits.pair(limits), consulted.pairFullAt)
  ]
  const refused = (readings: ReadonlyArray<RateLimit.Reading>, error: Refusal | undefined): MessageStore.Accepted => {
    if (error === undefined) throw new Error("the database refused what core's rules allow")
    return { _tag: "Refused", readings, error }
  }
  switch (answer._tag) {
    case "Stranger":
      return refused([], ApiKey.invalid())
    case "Barred":
      return refused([], ApiKey.refusal(answer, now) ?? Workspace.suspension(answer))
    case "Limited": {
      const readings = answer.numberFullAt === undefined ? [ofWorkspace(answer)] : ofCall(answer)
      return refused(readings, RateLimit.refusal(readings))
    }
    case "Judged": {
      const verdict = verdictOf(answer.verdict)
      if (verdict._tag === "Unbound" || verdict._tag === "Released") {
        throw new Error("the database did not claim a key that is free")
      }
      return { ...verdict, readings: [ofWorkspace(answer)] }
    }
    case "Refused":
      return refused(
        [ofWorkspace(answer)],
        Policy.refusal({
          ...answer,
          now,
          message: content,
          provider: command.provider,
          sender: sender ?? undefined,
          template: template ?? undefined,
          contact: answer.contact ?? undefined
        })
      )
    case "Claimed": {
      if (sender === null) throw new Error("the database claimed a send without a sender")
      return {
        _tag: "Claimed",
        readings: ofCall(answer),
        message: MessageStore.claimedMessage(command, sender, answer.before ?? undefined),
        sender,
        template: template ?? undefined,
        contact: answer.contact ?? undefined
      }
    }
  }
}

/** A batch of sends. */
export const batch = (asked: Asked) => (commands: ReadonlyArray<MessageStore.AcceptSend>): Given<Answered> => {
  const limits: Array<ReturnType<typeof limitsOf>> = []
  const kinds: Array<Kind> = []
  const keys = new Set<string>()
  const twins = new Set<string>()
  for (const { request } of commands) (keys.has(request.key) ? twins : keys).add(request.key)
  const sends = commands.map((command) =>
    sendOf(
      command,
      placeIn(kinds, kindOf(command, placeIn(limits, limitsOf(command.limits)), asked), isSameKind),
      twins.has(command.request.key),
      asked
    )
  )
  return {
    params: [sends, kinds, limits],
    read: (told) => {
      const { answers, at, found } = told as Told
      return answers.map((answer, i) => ({ answer, at: sends[i]!.now ?? at, found: found[sends[i]!.kind]! }))
    }
  }
}
