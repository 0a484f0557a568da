/**
 * Phone numbers: the E.164 form that every number has on the wire (specification §4), and the numbers that a
 * workspace sends from.
 */
import { Schema } from "effect"
import { getCountries, getCountryCallingCode, isPossiblePhoneNumber, Metadata } from "libphonenumber-js/min"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import * as SenderBlock from "./SenderBlock.ts"

type Lengths = ReadonlyMap<string, ReadonlySet<number>>

const lengthsBy = (
  join: (lengths: ReadonlySet<number>, others: ReadonlySet<number>) => ReadonlySet<number>
): Lengths =>
  getCountries().reduce((all, country) => {
    const metadata = new Metadata()
    metadata.selectNumberingPlan(country)
    const code = getCountryCallingCode(country)
    const lengths = new Set(metadata.numberingPlan!.possibleLengths())
    const others = all.get(code)
    return all.set(code, others === undefined ? lengths : join(lengths, others))
  }, new Map<string, ReadonlySet<number>>())

/** By calling code: the lengths that national numbers have in every country that shares it. */
const commonLengths = lengthsBy((lengths, others) => new Set([...lengths].filter((n) => others.has(n))))

/** The same in any of them. */
const allLengths = lengthsBy((lengths, others) => new Set([...lengths, ...others]))

/**
 * What the library says, who first finds out which country a number belongs to. That takes as long as much else of a
 * send together, and does not matter where the length is possible in all of them. (No calling code begins another.)
 */
const isPossible = (text: string): boolean => {
  for (let end = 2; end <= 4; end++) {
    if (commonLengths.get(text.slice(1, end))?.has(text.length - end) === true) return true
  }
  return isPossiblePhoneNumber(text)
}

/** Digits after the first that tell one country from another where they share a calling code. */
const probes = Array.from({ length: 100 }, (_, i) => `${`${i}`.padStart(2, "0")}457689012345`)

/** What may follow a calling code: `\\d{8}|\\d{9}`. */
const restOf = (code: string, lengths: ReadonlySet<number>): string => {
  const common = commonLengths.get(code)
  return [...lengths].sort((a, b) => a - b).flatMap((length) => {
    if (common?.has(length) === true) return [`\\d{${length}}`]
    // where countries that share a code differ: the first digits with which the length is possible all the same
    const digits = [..."123456789"].filter((digit) =>
      probes.every((probe) => isPossiblePhoneNumber(`+${code}${(digit + probe).slice(0, length)}`))
    )
    return digits.length === 0 ? [] : [`[${digits.join("")}]\\d{${length - 1}}`]
  }).join("|")
}

/**
 * The possible numbers as a regular expression, for descriptions of the API: by calling code, the lengths that national
 * numbers have. (A number with a national prefix in it, as `+44 0…`, is possible too, and nothing that anybody should send.)
 */
const possiblePattern = (): string => {
  const codes = new Map<string, Array<string>>()
  for (const [code, lengths] of allLengths) {
    const rest = restOf(code, lengths)
    codes.set(rest, [...(codes.get(rest) ?? []), code])
  }
  return `^\\+(?:${[...codes].map(([rest, group]) => `(?:${group.join("|")})(?:${rest})`).join("|")})$`
}

/** `+` and digits only, no separators, and possible by the numbering plan of its country (contract §3). */
export const E164 = Schema.String.check(
  Schema.makeFilter(
    (text: string) =>
      (/^\+[1-9][0-9]{1,14}$/.test(text) && isPossible(text)) ||
      "must be a phone number in E.164 format: + and digits only, possible in its country",
    { toJsonSchema: () => ({ maxLength: 16, pattern: possiblePattern() }) }
  )
).annotate({
  description: "Phone number in E.164 format",
  examples: ["+15551234567"],
  identifier: "E164"
})
export type E164 = typeof E164.Type

/** What upstream told of a number; `null`: nothing yet. */
export interface Learned {
  /** Its throughput, as a tier of `Limits`. */
  readonly tier: string | null
  /** Its messaging limit; `null` also for an unlimited one. */
  readonly messagingLimit: number | null
  /** Its rating, in the provider's words in lower case. */
  readonly quality: string | null
}

/** Nothing was told yet. */
export const unlearned: Learned = { tier: null, messagingLimit: null, quality: null }

/** A number as the provider has it. */
export interface ProviderNumber {
  readonly phoneNumber: E164
  /** The provider's own name for the number; inbound traffic is matched by it. Unique over all workspaces. */
  readonly providerNumberId: string
  /** The provider's name of the account that the number and its templates belong to. */
  readonly providerAccountId: string
  readonly learned: Learned
}

/**
 * A number that a workspace sends from. Tier, messaging limit and `available` belong to the operator; what upstream
 * tells is in `learned` and `block`, and what is in force follows from both.
 */
export interface PhoneNumber extends ProviderNumber {
  readonly id: PhoneNumberId
  readonly workspaceId: WorkspaceId
  /** The provider that it and its account belong to, by `Provider.name`. While another one runs, nothing is sent from it. */
  readonly provider: string
  /** `null`: what was learned, else the default of `Limits`. */
  readonly tier: string | null
  /** Unique customers written to outside a window per rolling 24 h; `null` as for the tier. */
  readonly messagingLimit: number | null
  /** The operator's switch. */
  readonly available: boolean
  /** Why upstream lets nothing be sent from it; may have passed by (`SenderBlock.inForce`). */
  readonly block: SenderBlock.SenderBlock | null
  /** Names the credentials of its own, which have another name after each change; `null`: those of the configuration. */
  readonly credentialsVersion: string | null
  /** The number used when a send names none while its provider runs. Exactly one per workspace and provider. */
  readonly isDefault: boolean
}

/** A number of a workspace as it begins: with nothing set by the operator, and nothing in its way. */
export const fresh = (
  given: ProviderNumber & Pick<PhoneNumber, "id" | "workspaceId" | "provider" | "isDefault">
): PhoneNumber => ({
  ...given,
  tier: null,
  messagingLimit: null,
  available: true,
  block: null,
  credentialsVersion: null
})

/** The tier in force; `null`: the default of `Limits`. */
export const tierOf = ({ learned, tier }: Pick<PhoneNumber, "tier" | "learned">): string | null => tier ?? learned.tier

/** The messaging limit in force; `null`: the default of `Limits`. */
export const messagingLimitOf = (
  { learned, messagingLimit }: Pick<PhoneNumber, "messagingLimit" | "learned">
): number | null => messagingLimit ?? learned.messagingLimit

/**
 * The numbers of a workspace, of which the oldest of each provider that has no default one becomes that. The others are
 * the same objects as before.
 */
export const withDefaults = (numbers: ReadonlyArray<PhoneNumber>): ReadonlyArray<PhoneNumber> => {
  const served = new Set(numbers.filter(({ isDefault }) => isDefault).map(({ provider }) => provider))
  const oldest = new Map<string, PhoneNumber>()
  for (const number of numbers) {
    const known = oldest.get(number.provider)
    if (known === undefined || number.id < known.id) oldest.set(number.provider, number)
  }
  return numbers.map((number) =>
    served.has(number.provider) || oldest.get(number.provider) !== number ? number : { ...number, isDefault: true }
  )
}

/** What upstream speaks of: a number, or an account and so all its numbers, but for the one alone whose digits it gives. */
export type NumberName =
  | Pick<PhoneNumber, "providerNumberId">
  | (Pick<PhoneNumber, "providerAccountId"> & Partial<Pick<PhoneNumber, "phoneNumber">>)

/** What upstream tells of a number; a field that is left out is not spoken of. */
export interface NumberChange {
  /** `null` lifts it, whatever its reason. */
  readonly block?: SenderBlock.SenderBlock | null
  /** Lifts a block for this reason, and no other; passed over where `block` is spoken of. */
  readonly lifts?: SenderBlock.SenderBlockReason
  readonly tier?: string
  /** `null`: unlimited. */
  readonly messagingLimit?: number | null
  readonly quality?: string
}

/** When the word that holds was told, of each field; one that is left out was never spoken of. */
export type ToldAt = { readonly [Field in Exclude<keyof NumberChange, "lifts">]?: Instant }

/**
 * Upstream's times are in whole seconds: a block may be of any moment of its second, and so later than a word of ours that
 * seems to be newer. To take it for newer costs less than to lose it.
 */
const blockMayBeLaterBy = 999

/** What becomes of the block; undefined when the word is not of it, or older than the one in force. */
const blockAfter = (
  before: SenderBlock.SenderBlock | null,
  { block, lifts }: NumberChange,
  at: Instant,
  toldAt: Instant = at
): { readonly block: SenderBlock.SenderBlock | null } | undefined => {
  if (block !== undefined) {
    return at + (block === null ? 0 : blockMayBeLaterBy) < toldAt
      ? undefined
      : { block: block && SenderBlock.renewed(before, block) }
  }
  const isLifted = lifts !== undefined && at >= toldAt && (before === null || before.reason === lifts)
  return isLifted ? { block: null } : undefined
}

/**
 * Applies upstream's word of the time `at`. A field whose word in force is of a later time keeps it, so that words may
 * come in any order; of two of the same time the one that comes last holds. A block counts as of the end of its second.
 */
export const observe = (
  { number, toldAt }: { readonly number: PhoneNumber; readonly toldAt: ToldAt },
  change: NumberChange,
  at: Instant
): { readonly number: PhoneNumber; readonly toldAt: ToldAt } => {
  const isNews = (field: keyof Learned) => change[field] !== undefined && at >= (toldAt[field] ?? at)
  const blocked = blockAfter(number.block, change, at, toldAt.block)
  const { messagingLimit = null, quality = null, tier = null } = change
  return {
    number: {
      ...number,
      ...blocked,
      learned: {
        tier: isNews("tier") ? tier : number.learned.tier,
        messagingLimit: isNews("messagingLimit") ? messagingLimit : number.learned.messagingLimit,
        quality: isNews("quality") ? quality : number.learned.quality
      }
    },
    toldAt: {
      ...toldAt,
      ...(blocked === undefined ? {} : { block: Math.max(at, toldAt.block ?? at) }),
      ...(isNews("tier") ? { tier: at } : {}),
      ...(isNews("messagingLimit") ? { messagingLimit: at } : {}),
      ...(isNews("quality") ? { quality: at } : {})
    }
  }
}
