/**
 * The phone numbers that a workspace sends from. Pure rules, no storage.
 */
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type { E164 } from "./E164.ts"
import * as SenderBlock from "./SenderBlock.ts"

/**
 * A messaging limit that stands for no limit. `null` stands for no value, so that a lower precedence applies. It is a
 * number, so that versions that do not know it read a limit that nobody reaches.
 */
export const unlimited = 2_147_483_647

/** The state of a number as the provider reported it; each field is `null` until reported. */
export interface Learned {
  /** Its throughput, as a tier of `Limits`. */
  readonly tier: string | null
  /** Its messaging limit, or {@link unlimited}. */
  readonly messagingLimit: number | null
  /** Its quality rating in the provider's words, in lower case. */
  readonly quality: string | null
}

/** Nothing reported yet. */
export const unlearned: Learned = { tier: null, messagingLimit: null, quality: null }

/** A number as the provider has it. */
export interface ProviderNumber {
  readonly phoneNumber: E164
  /** The provider's id of the number, by which inbound traffic is matched. Unique across all workspaces. */
  readonly providerNumberId: string
  /** The provider's id of the account that owns the number and its templates. */
  readonly providerAccountId: string
  readonly learned: Learned
}

/**
 * A number that a workspace sends from. The operator sets tier, messaging limit and `available`; what the provider
 * reports is in `learned` and `block`. The effective values follow from both.
 */
export interface PhoneNumber extends ProviderNumber {
  readonly id: PhoneNumberId
  readonly workspaceId: WorkspaceId
  /**
   * The provider of the number and its account, as `Provider.name`. While a different provider runs, the number cannot
   * send.
   */
  readonly provider: string
  /** `null` uses what the provider reported, else the default of `Limits`. */
  readonly tier: string | null
  /** Unique customers messaged outside a window per rolling 24 h, or {@link unlimited}. `null` as for the tier. */
  readonly messagingLimit: number | null
  /**
   * The provider's id of the business portfolio that owns the account, as the operator configured it. Numbers of one
   * portfolio share the messaging limit (`MessagingLimit.poolOf`). `null` until configured.
   */
  readonly portfolioId: string | null
  /** The operator's switch. */
  readonly available: boolean
  /** Why the provider blocks the number; it may have expired (`SenderBlock.inForce`). */
  readonly block: SenderBlock.SenderBlock | null
  /**
   * The version of the number's own credentials, which changes with them; `null` if the number uses the configured
   * ones.
   */
  readonly credentialsVersion: string | null
  /**
   * Whether the number sends messages that name no number, while its provider runs. Exactly one per workspace and
   * provider.
   */
  readonly isDefault: boolean
}

/** A new number of a workspace, without operator settings or a block. */
export const fresh = (
  given: ProviderNumber & Pick<PhoneNumber, "id" | "workspaceId" | "provider" | "isDefault">
): PhoneNumber => ({
  ...given,
  tier: null,
  messagingLimit: null,
  portfolioId: null,
  available: true,
  block: null,
  credentialsVersion: null
})

/** The effective tier; `null` means the default of `Limits`. */
export const tierOf = ({ learned, tier }: Pick<PhoneNumber, "tier" | "learned">): string | null => tier ?? learned.tier

/** The effective messaging limit, where `standard` is the default of `Limits`. `null` means no limit. */
export const messagingLimitOf = (
  { learned, messagingLimit }: Pick<PhoneNumber, "messagingLimit" | "learned">,
  standard: number | null
): number | null => {
  const limit = messagingLimit ?? learned.messagingLimit ?? standard
  return limit === unlimited ? null : limit
}

/** Whether a number should become the default rather than another one. */
const isPreferred = (one: PhoneNumber, other: PhoneNumber): boolean => {
  const rank = ({ available, block }: PhoneNumber) => available ? block === null ? 0 : 1 : 2
  return rank(one) === rank(other) ? one.id < other.id : rank(one) < rank(other)
}

/**
 * Ensures that each provider of a workspace has a default number: where one is missing, the oldest number that is
 * available and not blocked becomes it, else the oldest available one, else the oldest. Other numbers remain the same
 * objects.
 */
export const withDefaults = (numbers: ReadonlyArray<PhoneNumber>): ReadonlyArray<PhoneNumber> => {
  const served = new Set(numbers.filter(({ isDefault }) => isDefault).map(({ provider }) => provider))
  const preferred = new Map<string, PhoneNumber>()
  for (const number of numbers) {
    const known = preferred.get(number.provider)
    if (known === undefined || isPreferred(number, known)) preferred.set(number.provider, number)
  }
  return numbers.map((number) =>
    served.has(number.provider) || preferred.get(number.provider) !== number ? number : { ...number, isDefault: true }
  )
}

/** The number that `from` names, by id or in E.164; without it, the default number at the provider. */
export const senderOf = (
  numbers: ReadonlyArray<PhoneNumber>,
  provider: string,
  from: string | undefined
): PhoneNumber | undefined =>
  numbers.find((number) =>
    from === undefined
      ? number.isDefault && number.provider === provider
      : number.id === from || number.phoneNumber === from
  )

/**
 * The numbers that a provider report is about: one number; all numbers of an account; or, if it also gives a phone
 * number, that number of the account.
 */
export type NumberName =
  | Pick<PhoneNumber, "providerNumberId">
  | (Pick<PhoneNumber, "providerAccountId"> & Partial<Pick<PhoneNumber, "phoneNumber">>)

/** Whether a name selects this number. */
export const isNamed = (number: PhoneNumber, name: NumberName): boolean =>
  "providerNumberId" in name
    ? number.providerNumberId === name.providerNumberId
    : number.providerAccountId === name.providerAccountId &&
      (name.phoneNumber === undefined || number.phoneNumber === name.phoneNumber)

/** A reported change of a number. Omitted fields are not part of the report. */
export interface NumberChange {
  /** `null` lifts any block. */
  readonly block?: SenderBlock.SenderBlock | null
  /** Lifts a block for this reason only. Ignored if `block` is present. */
  readonly lifts?: SenderBlock.SenderBlockReason
  readonly tier?: string
  /** `null` means unlimited. */
  readonly messagingLimit?: number | null
  readonly quality?: string
}

/** The state of a number of which only this is reported. */
export const learnedOf = ({ messagingLimit, quality, tier }: NumberChange): Learned => ({
  tier: tier ?? null,
  messagingLimit: messagingLimit === null ? unlimited : messagingLimit ?? null,
  quality: quality ?? null
})

/** For each field, the time of the report in force; omitted if none. */
export type ReportTimes = { readonly [Field in Exclude<keyof NumberChange, "lifts">]?: Instant }

/**
 * The provider's times are whole seconds, so a reported block may be up to 999 ms later than its time says, and so
 * later than a change of ours that seems newer. Applying an old block costs less than losing a new one.
 */
const blockMayBeLaterBy = 999

/**
 * The block after a change, and the time of the report in force. `undefined` if the change is not about the block, came
 * too late ({@link SenderBlock.isOver}), or is older than the report in force and adds nothing to it
 * ({@link SenderBlock.afterOlder}).
 */
const blockAfter = (
  before: SenderBlock.SenderBlock | null,
  { block, lifts }: NumberChange,
  at: Instant,
  now: Instant,
  toldAt: Instant = at
): { readonly block: SenderBlock.SenderBlock | null; readonly toldAt: Instant } | undefined => {
  const latest = Math.max(at, toldAt)
  if (block === undefined) {
    const isLifted = lifts !== undefined && at >= toldAt && (before === null || before.reason === lifts)
    return isLifted ? { block: null, toldAt: latest } : undefined
  }
  if (block !== null && SenderBlock.isOver(before, block, now)) return undefined
  const isOlder = at + (block === null ? 0 : blockMayBeLaterBy) < toldAt
  if (!isOlder) {
    // an error that says nothing against the block must not hide what was reported before it and arrives after it
    const isReport = block === null || !SenderBlock.hasMet(before, block)
    return { block: block && SenderBlock.renewed(before, block), toldAt: isReport ? latest : toldAt }
  }
  const after = block && before && SenderBlock.afterOlder(before, block)
  return after ? { block: after, toldAt: latest } : undefined
}

/**
 * Applies at `now` a provider report of the time `at`. A field keeps its value if that was reported later, so reports may arrive
 * in any order; of two with the same time, the last to arrive wins. A block counts from the end of its second.
 */
export const observe = (
  { number, toldAt }: { readonly number: PhoneNumber; readonly toldAt: ReportTimes },
  change: NumberChange,
  at: Instant,
  now: Instant
): { readonly number: PhoneNumber; readonly toldAt: ReportTimes } => {
  const isNews = (field: keyof Learned) => change[field] !== undefined && at >= (toldAt[field] ?? at)
  const blocked = blockAfter(number.block, change, at, now, toldAt.block)
  const { messagingLimit, quality, tier } = learnedOf(change)
  return {
    number: {
      ...number,
      ...(blocked === undefined ? {} : { block: blocked.block }),
      learned: {
        tier: isNews("tier") ? tier : number.learned.tier,
        messagingLimit: isNews("messagingLimit") ? messagingLimit : number.learned.messagingLimit,
        quality: isNews("quality") ? quality : number.learned.quality
      }
    },
    toldAt: {
      ...toldAt,
      ...(blocked === undefined ? {} : { block: blocked.toldAt }),
      ...(isNews("tier") ? { tier: at } : {}),
      ...(isNews("messagingLimit") ? { messagingLimit: at } : {}),
      ...(isNews("quality") ? { quality: at } : {})
    }
  }
}
