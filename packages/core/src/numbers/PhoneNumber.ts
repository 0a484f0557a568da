/**
 * Phone numbers: the E.164 format that every number has on the wire (specification §4), and the numbers that a
 * workspace sends from. Pure rules, no storage.
 */
import { Schema } from "effect"
import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  Metadata,
  parsePhoneNumberFromString
} from "libphonenumber-js/min"
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

/** By calling code: national number lengths that are valid in every country with that code. */
const commonLengths = lengthsBy((lengths, others) => new Set([...lengths].filter((n) => others.has(n))))

/** By calling code: national number lengths that are valid in any country with that code. */
const allLengths = lengthsBy((lengths, others) => new Set([...lengths, ...others]))

/**
 * Whether the number is possible. The library first determines the number's country, which is slow compared with the
 * rest of a send, and unnecessary if the length is valid in every country with the calling code. (No calling code is a
 * prefix of another.)
 */
const isPossible = (text: string): boolean => {
  for (let end = 2; end <= 4; end++) {
    if (commonLengths.get(text.slice(1, end))?.has(text.length - end) === true) return true
  }
  return isPossiblePhoneNumber(text)
}

/** The most digits of a number in E.164. */
const maxDigits = 15

/** Sample digits after the first, to tell countries apart that share a calling code. */
const probes = Array.from({ length: 100 }, (_, i) => `${`${i}`.padStart(2, "0")}457689012345`)

/** The pattern for what may follow a calling code: `\\d{8}|\\d{9}`. */
const restOf = (code: string, lengths: ReadonlySet<number>): string => {
  const common = commonLengths.get(code)
  // some plans have longer numbers than E.164
  const possible = [...lengths].filter((length) => code.length + length <= maxDigits)
  return possible.sort((a, b) => a - b).flatMap((length) => {
    if (common?.has(length) === true) return [`\\d{${length}}`]
    // if countries with the same code differ: the first digits with which the length is possible
    const digits = [..."123456789"].filter((digit) =>
      probes.every((probe) => isPossiblePhoneNumber(`+${code}${(digit + probe).slice(0, length)}`))
    )
    return digits.length === 0 ? [] : [`[${digits.join("")}]\\d{${length - 1}}`]
  }).join("|")
}

/**
 * The possible numbers as a regular expression, for the API's description: calling codes with their national number
 * lengths. (A number with a national prefix, such as `+44 0…`, also matches, though nobody should send it.)
 */
export const possiblePattern = (): string => {
  const codes = new Map<string, Array<string>>()
  for (const [code, lengths] of allLengths) {
    const rest = restOf(code, lengths)
    codes.set(rest, [...(codes.get(rest) ?? []), code])
  }
  return `^\\+(?:${[...codes].map(([rest, group]) => `(?:${group.join("|")})(?:${rest})`).join("|")})$`
}

/** The national prefixes of the countries with a calling code. */
interface Prefixes {
  /** As people write them. */
  readonly written: ReadonlySet<string>
  /** The prefix that the library removes from a national number. */
  readonly removed: ReadonlyArray<RegExp>
}

/** By calling code, without the codes whose countries have no national prefix. */
const prefixes = getCountries().reduce((all, country) => {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country)
  const plan = metadata.numberingPlan! as typeof metadata.numberingPlan & {
    nationalPrefix: () => string | 0 | undefined
    nationalPrefixForParsing: () => string | undefined
  }
  // if there is no prefix, the metadata may hold the number 0 instead of a text
  const written = plan.nationalPrefix() || undefined
  const removed = plan.nationalPrefixForParsing()
  if (!removed) return all
  const code = getCountryCallingCode(country)
  const known = all.get(code)
  return all.set(code, {
    written: new Set([...known?.written ?? [], ...written === undefined ? [] : [written]]),
    removed: [...known?.removed ?? [], new RegExp(`^(?:${removed})`)]
  })
}, new Map<string, Prefixes>())

const prefixesOf = (text: string): readonly [code: string, Prefixes] | undefined => {
  for (let end = 2; end <= 4; end++) {
    const code = text.slice(1, end)
    const found = prefixes.get(code)
    if (found !== undefined) return [code, found]
  }
  return undefined
}

/** The national prefixes that people may write after the calling code of a number, such as the 0 in `+44 (0)20 …`. */
export const nationalPrefixesOf = (
  number: string
): ReadonlyArray<{ readonly code: string; readonly prefix: string }> => {
  const found = prefixesOf(number)
  return found === undefined ? [] : [...found[1].written].map((prefix) => ({ code: `+${found[0]}`, prefix }))
}

/**
 * Removes a national prefix after the calling code, as libphonenumber-js does: `+4407…` becomes `+447…`. (The zero of
 * an Italian number is part of the number and stays.) Returns a text that is not a possible number unchanged. Calls the
 * slow library only if the digits after the calling code may begin with a prefix.
 */
export const canonicalOf = (text: string): string => {
  const found = prefixesOf(text)
  if (found === undefined) return text
  const national = text.slice(1 + found[0].length)
  if (found[1].removed.every((prefix) => !prefix.exec(national)?.[0])) return text
  const parsed = parsePhoneNumberFromString(text)
  if (parsed === undefined || parsed.number === text || !isPossible(parsed.number)) return text
  // the rest may begin with a prefix again
  return canonicalOf(parsed.number)
}

/**
 * Whether a text is `+` and digits without separators, possible in its country's numbering plan, and without a national
 * prefix (contract §3).
 */
export const isE164 = (text: string): boolean =>
  /^\+[1-9][0-9]{1,14}$/.test(text) && isPossible(text) && canonicalOf(text) === text

/** The requirement of {@link isE164}, in words. */
export const e164Expected =
  "must be a phone number in E.164 format: + and digits only, possible in its country, without a national prefix"

/** A phone number for which {@link isE164} holds. */
export const E164 = Schema.String.check(
  Schema.makeFilter((text: string) => isE164(text) || e164Expected, {
    toJsonSchema: () => ({ maxLength: 1 + maxDigits, pattern: possiblePattern() })
  })
).annotate({
  description: "Phone number in E.164 format",
  examples: ["+15551234567"],
  identifier: "E164"
})
export type E164 = typeof E164.Type

/** The state of a number as the provider reported it; each field is `null` until reported. */
export interface Learned {
  /** Its throughput, as a tier of `Limits`. */
  readonly tier: string | null
  /** Its messaging limit; also `null` if unlimited. */
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
  /** Unique customers messaged outside a window per rolling 24 h. `null` as for the tier. */
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

/** The effective messaging limit; `null` means the default of `Limits`. */
export const messagingLimitOf = (
  { learned, messagingLimit }: Pick<PhoneNumber, "messagingLimit" | "learned">
): number | null => messagingLimit ?? learned.messagingLimit

/**
 * Ensures that each provider of a workspace has a default number: where one is missing, the oldest number becomes it.
 * Other numbers remain the same objects.
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

/** For each field, the time of the report in force; omitted if none. */
export type ToldAt = { readonly [Field in Exclude<keyof NumberChange, "lifts">]?: Instant }

/**
 * The provider's times are whole seconds, so a reported block may be up to 999 ms later than its time says, and so
 * later than a change of ours that seems newer. Applying an old block costs less than losing a new one.
 */
const blockMayBeLaterBy = 999

/** The block after a change; `undefined` if the change is not about the block, or is older than the report in force. */
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
 * Applies a provider report of the time `at`. A field keeps its value if that was reported later, so reports may arrive
 * in any order; of two with the same time, the last to arrive wins. A block counts from the end of its second.
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
