/**
 * The service for the numbers that workspaces send from: adds or refreshes the configured number at start, and lists a
 * workspace's numbers with their effective limits. Calls the provider and `PhoneNumberStore`.
 */
import { Clock, Context, Deferred, Duration, Effect, Layer, Schema, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Elapsed from "../Elapsed.ts"
import { ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Limits from "../limits/Limits.ts"
import { fromOverread, type Page, type PageRequest } from "../Page.ts"
import * as Chores from "../provider/Chores.ts"
import { Provider, type ProviderError, type TemplatesUnavailable, toServerError } from "../provider/Provider.ts"
import { Readiness } from "../Readiness.ts"
import type { StoreError } from "../StoreError.ts"
import { startWaits, Templates } from "../templates/Templates.ts"
import type { Instant } from "../Time.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import * as PhoneNumber from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import * as SenderBlock from "./SenderBlock.ts"

/** Whether a number can send: the operator sets `disabled`, the provider causes `blocked`. */
export const NumberStatus = Schema.Literals(["available", "blocked", "disabled"])
export type NumberStatus = typeof NumberStatus.Type

/**
 * A number and its effective values at a moment: the operator's settings take precedence, then provider reports, then
 * defaults.
 */
export interface PhoneNumberState {
  readonly number: PhoneNumber.PhoneNumber
  readonly status: NumberStatus
  readonly tier: string
  readonly messagesPerSecond: number
  /** Unique customers messaged outside a window per rolling 24 h; `null` means no limit. */
  readonly messagingLimit: number | null
  /** The block in force, if any. */
  readonly block: SenderBlock.SenderBlock | null
}

/** The effective values of a number at `now`. */
export const stateOf = (limits: Limits.Limits, number: PhoneNumber.PhoneNumber, now: Instant): PhoneNumberState => {
  const block = number.block !== null && SenderBlock.inForce(number.block, now) ? number.block : null
  const { perSecond, tier } = Limits.phoneNumberTier(limits, PhoneNumber.tierOf(number))
  return {
    number,
    status: !number.available ? "disabled" : block !== null ? "blocked" : "available",
    tier,
    messagesPerSecond: perSecond,
    messagingLimit: PhoneNumber.messagingLimitOf(number, limits.defaults.messagingLimit),
    block
  }
}

export class PhoneNumbers extends Context.Service<PhoneNumbers, {
  /**
   * Ensures that the configured number exists once there is a workspace. If the storage lacks it, it is added to the
   * first workspace as its default. If it exists, its provider, account and reported values are updated, and no block is
   * lifted: the configured credentials may not be those of the number, and may lack a permission. When this succeeds,
   * the templates of its account have been listed, now or earlier. Safe to repeat.
   */
  readonly ensure: Effect.Effect<void, ProviderError | TemplatesUnavailable | StoreError>
  /** The numbers of a workspace with their current state, newest first. */
  readonly list: (workspaceId: Id.WorkspaceId, page: PageRequest) => Effect.Effect<Page<PhoneNumberState>, StoreError>
}>()("@wac/core/numbers/PhoneNumbers") {
  static readonly layer = Layer.effect(
    PhoneNumbers,
    Effect.gen(function*() {
      const numbers = yield* PhoneNumberStore
      const workspaces = yield* WorkspaceStore
      const provider = yield* Provider
      const limits = yield* Limits.CurrentLimits
      const templates = yield* Templates
      const random = yield* SecureRandom.SecureRandom
      /** Accounts with a new number whose templates are not listed yet. */
      const unlisted = new Set<string>()

      const refresh = Effect.fnUntraced(function*(
        known: PhoneNumber.PhoneNumber,
        { learned, providerAccountId, providerNumberId }: PhoneNumber.ProviderNumber
      ) {
        if (known.providerAccountId !== providerAccountId || known.provider !== provider.name) {
          unlisted.add(providerAccountId)
          yield* numbers.assign(known.id, { provider: provider.name, providerAccountId })
        }
        const { messagingLimit, quality, tier } = learned
        const now = yield* Clock.currentTimeMillis
        yield* numbers.observe({
          name: { providerNumberId },
          now,
          at: now,
          change: {
            ...(tier === null ? {} : { tier }),
            ...(messagingLimit === null ? {} : { messagingLimit }),
            ...(quality === null ? {} : { quality })
          }
        })
      })

      /** Without templates every send would be refused. Old templates are refreshed in the background. */
      const ensureTemplates = Effect.fnUntraced(function*(sender: PhoneNumber.PhoneNumber) {
        const { items } = yield* templates.list(sender.workspaceId, {}, { limit: 1, after: null })
        if (items.length > 0 && !unlisted.has(sender.providerAccountId)) return
        yield* templates.syncAccount(sender)
        unlisted.delete(sender.providerAccountId)
      })

      const ensure = Effect.gen(function*() {
        // even without a workspace: a wrong configuration then shows at start, not during set-up
        const configured = yield* provider.firstNumber
        const [first] = yield* workspaces.list
        if (first === undefined) return
        const { phoneNumber, providerNumberId } = configured
        const [known] = yield* numbers.named({ providerNumberId })
        if (known !== undefined) {
          yield* refresh(known, configured)
          const { providerAccountId } = configured
          return yield* ensureTemplates({ ...known, provider: provider.name, providerAccountId })
        }
        const number = PhoneNumber.fresh({
          ...configured,
          id: yield* Id.generate(random, "pn"),
          workspaceId: first.id,
          provider: provider.name,
          isDefault: true
        })
        if (yield* numbers.add(number)) {
          unlisted.add(number.providerAccountId)
          yield* Effect.logInfo(`${phoneNumber} is now the default number of the workspace ${first.id}`)
          yield* ensureTemplates(number)
        } else if ((yield* numbers.named({ providerNumberId })).length === 0) {
          yield* Effect.logWarning(
            `the workspace ${first.id} has ${phoneNumber} with a different provider id: ${providerNumberId} is not used`
          )
        }
      }).pipe(Effect.withSpan("PhoneNumbers.ensure"))

      return PhoneNumbers.of({
        ensure,
        list: Effect.fn("PhoneNumbers.list")(function*(workspaceId, page) {
          const now = yield* Clock.currentTimeMillis
          // a workspace has few numbers, so they are paged in memory
          const all = [...(yield* numbers.list(workspaceId))].sort((a, b) => a.id < b.id ? 1 : -1)
          return fromOverread(
            all.filter(({ id }) => page.after === null || id < page.after)
              // each provider has a default; only the running provider's default counts
              .map((number) => ({ ...number, isDefault: number.isDefault && number.provider === provider.name }))
              .map((number) => stateOf(limits, number, now)),
            page,
            ({ number }) => number.id
          )
        })
      })
    })
  )
}

/** How soon `ensure` is retried if the provider or the storage was unavailable at start. */
const ensureAgainAfter = Duration.minutes(1)

/**
 * Runs `ensure` at start, which waits for it up to a limit, and retries until it succeeds. Until then the process is
 * not ready: the configured credentials, number and address are unproven, or there is no template to send.
 */
export const layerEnsured = Layer.effectDiscard(
  Effect.gen(function*() {
    const { ensure } = yield* PhoneNumbers
    const { require } = yield* Readiness
    const ended = yield* Deferred.make<void>()
    const pending = new ServerError({
      reason: "provider_unavailable",
      message: "the provider has not yet returned its number and its templates"
    })
    let refusal: ServerError | undefined = pending
    yield* require({
      name: "provider",
      check: Effect.suspend(() => refusal === undefined ? Effect.void : Effect.fail(refusal))
    })
    const line = "the configured phone number could not be set up and will be tried again soon"
    /** One try. Returns whether it succeeded; a defect of the provider's adapter may be gone at the next one too. */
    const tried = ensure.pipe(
      Effect.map(() => {
        refusal = undefined
        return true
      }),
      Effect.catch((error) => {
        // an unavailable storage is a condition of its own
        refusal = error._tag === "StoreError" ? undefined : toServerError(error)
        return Effect.as(Effect.logWarning(`${line}: ${error.message}`), false)
      }),
      Effect.catchCause((cause) => {
        refusal = pending
        return Effect.as(Effect.logWarning(line, cause), false)
      })
    )
    const scope = yield* Effect.scope
    const again = Effect.gen(function*() {
      let isDone = false
      let dueAt = (yield* Elapsed.now) + Duration.toMillis(ensureAgainAfter)
      yield* Chores.run(Effect.gen(function*() {
        while (!isDone) {
          const left = dueAt - (yield* Elapsed.now)
          if (left > 0) yield* Effect.sleep(left)
          isDone = yield* tried
          dueAt = (yield* Elapsed.now) + Duration.toMillis(ensureAgainAfter)
        }
      }))
    })
    yield* tried.pipe(
      Effect.ensuring(Deferred.succeed(ended, undefined)),
      Effect.flatMap((isDone) => isDone ? Effect.void : Effect.provideService(again, Scope.Scope, scope)),
      Effect.forkScoped
    )
    yield* Effect.timeoutOption(Deferred.await(ended), startWaits)
  })
)
