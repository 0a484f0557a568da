/**
 * The host, for programs that use Effect: its own workspace, and sends that are identified by a key of the host.
 */
import { MessagesApi } from "@wac/api"
import { type Errors, Id, Messages, type SendBinding, StoreError, Templates } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { NewMessage } from "../generated/Messaging.ts"
import * as Input from "../Input.ts"
import { HostKeys } from "../keys/HostKeys.ts"
import * as MessagesOfHost from "../messages/Messages.ts"
import * as Workspaces from "../workspaces/Workspaces.ts"

/** The host's own workspace, and sends in it. */
export class Host extends Context.Service<Host, {
  /** The default workspace: the first one, created with the provider's number if there was none. */
  readonly workspaceId: Id.WorkspaceId
  /**
   * Sends a message of that workspace, once for each idempotency key, with the guarantees of the core's
   * `Messages.send`. Fails with its errors; only `outcome_unknown`, `delivery_unknown` and `in_progress` mean that
   * the message may have been sent.
   */
  readonly send: (
    message: NewMessage,
    options: { readonly idempotencyKey: string }
  ) => Effect.Effect<SendBinding.Sent, Errors.DomainError>
}>()("@wac/effect/people/Host") {
  /** Requires what `Composition.layer` provides. The name is for the first workspace if there is none yet. */
  static readonly layer = (workspaceName: string) =>
    Layer.effect(
      Host,
      Effect.gen(function*() {
        const keys = yield* HostKeys
        const messages = yield* Messages.Messages
        const random = yield* SecureRandom.SecureRandom
        const templates = yield* Templates.Templates
        const { id: workspaceId } = yield* Workspaces.first(workspaceName)
        // a workspace that was just created did not exist yet when the composition listed the templates
        yield* templates.syncFirst(workspaceId)

        return Host.of({
          workspaceId,
          send: Effect.fnUntraced(function*(message, options) {
            return yield* messages.send({
              workspaceId,
              apiKeyId: yield* StoreError.orUnavailable(keys.of(workspaceId)),
              requestId: yield* Id.generate(random, "req"),
              key: yield* Effect.fromResult(Input.idempotencyKey(options.idempotencyKey)),
              message: yield* readMessage(message),
              later: null
            }).pipe(Effect.flatMap(MessagesOfHost.sentAtOnce))
          })
        })
      })
    ).pipe(Layer.provide(HostKeys.layer))
}

const readMessage = Input.read(MessagesApi.NewMessage)
