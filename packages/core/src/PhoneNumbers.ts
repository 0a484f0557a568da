/**
 * The numbers of a workspace: the one that the configuration names, and what is in force of each.
 */
import { Clock, Context, Duration, Effect, Layer, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Id from "./Id.ts"
import * as Limits from "./Limits.ts"
import { fromOverread, type Page, type PageRequest } from "./Page.ts"
import * as PhoneNumber from "./PhoneNumber.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { Provider, type ProviderError, toServerError } from "./Provider.ts"
import { Readiness } from "./Readiness.ts"
import * as SenderBlock from "./SenderBlock.ts"
import type { StoreError } from "./StoreError.ts"
import { TemplateRequests } from "./TemplateRequests.ts"
import type { Instant } from "./Time.ts"
import { WorkspaceStore } from "./WorkspaceStore.ts"

/** A number and what is in force of it at a moment: the operator's settings before what was learned, and defaults last. */
export interface PhoneNumberState {
  readonly number: PhoneNumber.PhoneNumber
  /** `disabled` is the operator's doing, `blocked` upstream's. */
  readonly status: "available" | "blocked" | "disabled"
  readonly tier: string
  readonly messagesPerSecond: number
  /** Unique customers written to outside a window per rolling 24 h; `null`: no limit. */
  readonly messagingLimit: number | null
  /** The block that is in force. */
  readonly block: SenderBlock.SenderBlock | null
}

/** What is in force of a number at `now`. */
export const stateOf = (limits: Limits.Limits, number: PhoneNumber.PhoneNumber, now: Instant): PhoneNumberState => {
  const block = number.block !== null && SenderBlock.inForce(number.block, now) ? number.block : null
  const { perSecond, tier } = Limits.phoneNumberTier(limits, PhoneNumber.tierOf(number))
  return {
    number,
    status: !number.available ? "disabled" : block !== null ? "blocked" : "available",
    tier,
    messagesPerSecond: perSecond,
    messagingLimit: PhoneNumber.messagingLimitOf(number) ?? limits.defaults.messagingLimit,
    block
  }
}

export class PhoneNumbers extends Context.Service<PhoneNumbers, {
  /**
   * Sees to it that the number that the configuration names is there, once there is a workspace: one that storage lacks
   * is added to the first workspace and becomes its default. Of one that is known the account is brought up to date, and
   * what the provider tells of it; that it told anything proves its credentials good again. Templates of an account that it
   * is new to are asked for. Safe to repeat.
   */
  readonly ensure: Effect.Effect<void, ProviderError | StoreError>
  /** The numbers of a workspace, newest first, as they are at this moment. */
  readonly list: (workspaceId: Id.WorkspaceId, page: PageRequest) => Effect.Effect<Page<PhoneNumberState>, StoreError>
}>()("@wac/core/PhoneNumbers") {
  static readonly layer = Layer.effect(
    PhoneNumbers,
    Effect.gen(function*() {
      const numbers = yield* PhoneNumberStore
      const workspaces = yield* WorkspaceStore
      const provider = yield* Provider
      const limits = yield* Limits.CurrentLimits
      const requests = yield* TemplateRequests
      const random = yield* SecureRandom.SecureRandom

      const refresh = Effect.fnUntraced(function*(
        known: PhoneNumber.PhoneNumber,
        { learned, providerAccountId, providerNumberId }: PhoneNumber.ProviderNumber
      ) {
        if (known.providerAccountId !== providerAccountId) {
          yield* numbers.configure(known.id, { providerAccountId })
          yield* requests.ask(providerAccountId)
        }
        const { messagingLimit, quality, tier } = learned
        yield* numbers.observe({
          name: { providerNumberId },
          at: yield* Clock.currentTimeMillis,
          change: {
            ...(tier === null ? {} : { tier }),
            ...(messagingLimit === null ? {} : { messagingLimit }),
            ...(quality === null ? {} : { quality }),
            ...(known.block?.reason === "credentials" ? { lifts: known.block.reason } : {})
          }
        })
      })

      const ensure = Effect.gen(function*() {
        // before there is a workspace too: a wrong configuration is then known at the start, not at the set-up
        const configured = yield* provider.firstNumber
        const [first] = yield* workspaces.list
        if (first === undefined) return
        const { phoneNumber, providerNumberId } = configured
        const [known] = yield* numbers.named({ providerNumberId })
        if (known !== undefined) return yield* refresh(known, configured)
        const number = PhoneNumber.fresh({
          ...configured,
          id: yield* Id.generate(random, "pn"),
          workspaceId: first.id,
          isDefault: true
        })
        if (yield* numbers.add(number)) {
          yield* requests.ask(number.providerAccountId)
          yield* Effect.logInfo(`${phoneNumber} is the default number of the workspace ${first.id} from now on`)
        } else if ((yield* numbers.named({ providerNumberId })).length === 0) {
          yield* Effect.logWarning(
            `the workspace ${first.id} has ${phoneNumber} under another name with the provider: ${providerNumberId} is not used`
          )
        }
      }).pipe(Effect.withSpan("PhoneNumbers.ensure"))

      return PhoneNumbers.of({
        ensure,
        list: Effect.fn("PhoneNumbers.list")(function*(workspaceId, page) {
          const now = yield* Clock.currentTimeMillis
          // a workspace has a few, not pages of them
          const all = [...(yield* numbers.list(workspaceId))].sort((a, b) => a.id < b.id ? 1 : -1)
          return fromOverread(
            all.filter(({ id }) => page.after === null || id < page.after)
              .map((number) => stateOf(limits, number, now)),
            page,
            ({ number }) => number.id
          )
        })
      })
    })
  )
}

/** How soon a provider or a storage that was away at the start is asked again. */
const ensureAgainAfter = Duration.minutes(1)

/**
 * `ensure` at the start, which waits for it once, and again until it has succeeded. Until then the process is not ready:
 * what the configuration says of the provider (credentials, number, address) has not been seen to be right.
 */
export const layerEnsured = Layer.effectDiscard(
  Effect.gen(function*() {
    const { ensure } = yield* PhoneNumbers
    const { require } = yield* Readiness
    let refusal: ProviderError | undefined
    yield* require({
      name: "provider",
      check: Effect.suspend(() => refusal === undefined ? Effect.void : Effect.fail(toServerError(refusal)))
    })
    const tried = ensure.pipe(
      Effect.tap(() => Effect.sync(() => refusal = undefined)),
      Effect.tapError((error) => {
        refusal = error._tag === "ProviderError" ? error : undefined
        return Effect.logWarning(
          `the configured phone number could not be looked after, and will be again soon: ${error.message}`
        )
      })
    )
    yield* tried.pipe(
      Effect.catch(() =>
        Effect.forkScoped(Effect.delay(Effect.retry(tried, Schedule.spaced(ensureAgainAfter)), ensureAgainAfter))
      )
    )
  })
)
