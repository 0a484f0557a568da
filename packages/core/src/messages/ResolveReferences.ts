/**
 * Resolves the ids that a message refers to (contract §9, §10): looks up the quoted message and the files, and
 * translates our ids to the provider's identifiers.
 */
import { Data, Duration, Effect, Option } from "effect"
import * as Contact from "../contacts/Contact.ts"
import { type DomainError, InvalidBody } from "../Errors.ts"
import type { MediaId, MessageId, WorkspaceId } from "../Id.ts"
import * as Media from "../media/Media.ts"
import type { SendableMedia } from "../media/SendableMedia.ts"
import { orUnavailable, type StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { OutboundMessage } from "./Message.ts"
import * as MessageFiles from "./MessageFiles.ts"
import { type NamedMessage, none, type ResolvedReferences } from "./MessageReferences.ts"
import type { ClaimedSend, MessageStore } from "./MessageStore.ts"

const quotedBy = (message: OutboundMessage): { readonly id: MessageId; readonly param: string } | undefined =>
  message.type === "reaction"
    ? { id: message.reaction.message_id, param: "reaction.message_id" }
    : message.type === "template" || message.context === undefined
    ? undefined
    : { id: message.context.message_id, param: "context.message_id" }

const notNamed = (param: string): InvalidBody =>
  new InvalidBody({
    reason: "invalid_field",
    param,
    message: `${param} does not name a message of this conversation`
  })

const isOfConversation = (
  named: NamedMessage,
  { contact, message, sender }: Pick<ClaimedSend, "contact" | "message" | "sender">
): boolean => named.phoneNumberId === sender.id && Contact.keysOf(message.content.to, contact).includes(named.customer)

/** Adds the message's field (`param`) to the provider's refusal of a file, which does not name a field. */
const naming = (error: DomainError, param: string): DomainError => {
  if (error._tag !== "InvalidBody" || error.param !== undefined) return error
  const { message, provider, reason } = error
  return new InvalidBody({ reason, message, param, ...(provider === undefined ? {} : { provider }) })
}

/**
 * How long a send waits for all of its files: with the provider's deadline, less than the lease of its claim. Transfers
 * continue afterwards.
 */
const patience = Duration.seconds(15)

/** The number of a message's files that are uploaded concurrently. */
const concurrency = 4

/** The provider's ids of a message's files. All of them are checked before the first upload. */
const uploaded = (
  { message: { workspaceId }, sender }: Pick<ClaimedSend, "message" | "sender">,
  files: ReadonlyArray<MessageFiles.File>,
  library: SendableMedia
): Effect.Effect<ReadonlyMap<MediaId, string>, DomainError> => {
  const check = Effect.fnUntraced(function*(file: MessageFiles.File) {
    const media = yield* library.find(workspaceId, file.id).pipe(orUnavailable)
    if (media === undefined) return yield* Media.missing(file.param)
    const refusal = Media.refusal(media, file)
    return refusal === undefined ? { media, param: file.param } : yield* refusal
  })
  return Effect.forEach(files, check).pipe(
    Effect.flatMap((found) =>
      Effect.forEach(found, ({ media, param }) =>
        library.providerIdOf(sender, media).pipe(
          orUnavailable,
          Effect.mapBoth({
            onSuccess: (providerMediaId) => [media.id, providerMediaId] as const,
            onFailure: (error) => naming(error, param)
          })
        ), { concurrency })
    ),
    Effect.map((ids) => new Map(ids)),
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(Media.notReady()) })
  )
}

/** The files of a message that are there, with `null` for a customer's file that is not downloaded yet. */
type FilesFound = Effect.Success<ReturnType<SendableMedia["keepUntil"]>>

/** Keeps the files of a message that is to be sent later. Returns those that are there. */
export const keepFiles = (
  workspaceId: WorkspaceId,
  content: OutboundMessage,
  until: Instant,
  library: SendableMedia
): Effect.Effect<FilesFound, StoreError> => {
  const files = MessageFiles.of(content)
  return files.length === 0
    ? Effect.succeed(new Map())
    : library.keepUntil(workspaceId, files.map(({ id }) => id), until)
}

/**
 * The refusal of a message that is to be sent later, as far as it is known by now (contract §15): what it refers to is
 * not there, or does not fit its field. A message that it quotes may still get its provider's id.
 */
export const refusalOfLater = Effect.fnUntraced(function*(
  workspaceId: WorkspaceId,
  content: OutboundMessage,
  found: FilesFound,
  store: Pick<MessageStore["Service"], "named">
): Effect.fn.Return<InvalidBody | undefined, StoreError> {
  const quoted = quotedBy(content)
  if (quoted !== undefined && Option.isNone(yield* store.named(workspaceId, quoted.id))) return notNamed(quoted.param)
  for (const file of MessageFiles.of(content)) {
    const media = found.get(file.id)
    const refusal = media === undefined
      ? Media.missing(file.param)
      : media === null
      ? undefined
      : Media.refusal(media, file)
    if (refusal !== undefined) return refusal
  }
  return undefined
})

/**
 * The quoted message is still to be sent, or its outcome is unknown. A message that waits in a queue is tried again; to a
 * request this is the refusal.
 */
export class QuotedIsOpen extends Data.TaggedError("QuotedIsOpen")<{ readonly refusal: InvalidBody }> {}

/** Resolves what a claimed send refers to. Fails with the reason if a reference is invalid or takes too long. */
export const resolve = (
  claimed: Pick<ClaimedSend, "contact" | "message" | "sender">,
  store: Pick<MessageStore["Service"], "named">,
  library: SendableMedia
): Effect.Effect<ResolvedReferences, DomainError | QuotedIsOpen> => {
  const { content, workspaceId } = claimed.message
  const quoted = quotedBy(content)
  const files = MessageFiles.of(content)
  if (quoted === undefined && files.length === 0) return Effect.succeed(none)
  return Effect.gen(function*() {
    let providerMessageId: string | null = null
    if (quoted !== undefined) {
      const { id, param } = quoted
      const found = Option.filter(
        yield* store.named(workspaceId, id).pipe(orUnavailable),
        (named) => isOfConversation(named, claimed)
      )
      if (Option.isNone(found)) {
        return yield* notNamed(param)
      }
      providerMessageId = found.value.providerMessageId
      if (providerMessageId === null) {
        const refusal = new InvalidBody({
          reason: "invalid_field",
          param,
          message: `${param} names a message that the provider has not accepted`
        })
        return yield* found.value.isOpen ? new QuotedIsOpen({ refusal }) : refusal
      }
    }
    const mediaIds = files.length === 0 ? none.mediaIds : yield* uploaded(claimed, files, library)
    return { quoted: providerMessageId, mediaIds }
  })
}
