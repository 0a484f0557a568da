/**
 * The E.164 format, which every phone number has on the wire (specification §4). Pure rules.
 */
import { Schema } from "effect"
import {
  getCountries,
  getCountryCallingCode,
  isPossiblePhoneNumber,
  Metadata,
  parsePhoneNumberFromString
} from "libphonenumber-js/min"

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
