/**
 * Takes the values of a request's known fields (`BodyShape`) in the form in which they may be kept (contract §17):
 * without codes, keys, tokens and other secrets, with long texts cut, and with a bound on their total size. Pure.
 */
import * as BodyShape from "./BodyShape.ts"

/** A value that is neither a list nor an object. */
export type Scalar = string | number | boolean | null

/** A field of a body with its value. */
export interface FieldValue {
  /** As in `BodyShape.Field`. */
  readonly path: string
  /** The value. In a text, {@link mark} replaces each secret. */
  readonly value: Scalar
  /** Whether the value, or a part of it, was left out because it is a secret or may be one. */
  readonly isRedacted: boolean
  /** Whether the text was cut at {@link maxLength}. */
  readonly isCut: boolean
}

/** The values of a body. */
export interface BodyValues {
  readonly fields: ReadonlyArray<FieldValue>
  /** How many of the first 1,000 values were left out because {@link maxBytes} was reached. */
  readonly omitted: number
}

/** The values of a body before it is known which of its templates carry codes. They must not be kept like this. */
export interface Unchecked extends BodyValues {
  /** The paths of the body's templates, and their names; `null` for a template without a name. */
  readonly templates: ReadonlyArray<{ readonly path: string; readonly name: string | null }>
}

/** The text that replaces a secret. */
export const mark = "[redacted]"

/** The maximum length of a text that is kept, in UTF-16 units. */
export const maxLength = 256

/** The maximum size of one request's values as JSON, in bytes. */
export const maxBytes = 8 * 1024

/** The maximum number of fields of one request that are visited: many more than {@link maxBytes} has room for. */
const maxLooked = 1000

/** Fields of which no value is kept, at any depth. `current` and `new` are passwords. */
const secretName =
  /^(?:code|current|new|challenge|signature|credential\w*|authenticatorData|clientDataJSON|attestationObject|\w*(?:password|secret|token|header_handle))$/iu

/** The fields that hold the content of a template. */
const templateName = /^template(?:_b|B)?$/u

/** The fields of a template's content that are not values for it. */
const plainParts: ReadonlySet<string> = new Set(["name", "language", "type"])

const partsOf = (path: string): ReadonlyArray<string> => path.replaceAll(/\[\d+\]/gu, "").split(".")

/**
 * Parts of words for a code or a password, in any place of a word: most languages inflect and compound them. They also
 * stand in words that mean something else, whose text then loses its digits too.
 */
const stems = [
  "cod[eiuo]",
  "c[oó]dig",
  "kod",
  "kód",
  "kood",
  "κωδικ",
  "код",
  "pass(?:wor|cod|phras|ord)",
  "mot de passe",
  "palavra-passe",
  "kennwort",
  "l[oö]senord",
  "wachtwoord",
  "contrase[nñ]",
  "clave",
  "senha",
  "parol",
  "has[lł]",
  "hesl",
  "şifre",
  "sifre",
  "sandi",
  "salasana",
  "jelsz",
  "парол",
  "mật khẩu",
  "mã ",
  "קוד",
  "סיסמ",
  "رمز",
  "كود",
  "کد",
  "المرور",
  "कोड",
  "ओटीपी",
  "पासवर्ड",
  "รหัส",
  "(?<![号號])[码碼]",
  "验证",
  "驗證",
  "口令",
  "コード",
  "認証",
  "暗証",
  "パスワード",
  "인증",
  "코드",
  "비밀번호"
].join("|")

/** Abbreviations for a code, which are also parts of other words. */
const abbreviations = "(?<!\\p{L})(?:m|i|e|sms|push|chip|photo|qr|app)?-?(?:otp|pin|tan|пин)s?(?!\\p{L})"

/** Words that announce a one-time code in a text. */
const announcesCode = new RegExp(`${stems}|${abbreviations}`, "iu")

/** Digits that may be a one-time code, of any script, with or without separators. */
const codes = /\p{Nd}(?:[\s\p{Pd}.]?\p{Nd}){3,}/gu

/**
 * Secrets that are recognized by their beginning: ours, the provider's and common ones. No pattern may backtrack over
 * long stretches, or a long text would block the event loop.
 */
const known: ReadonlyArray<RegExp> = [
  /wac_live_\w+/gu,
  /whsec_[\w+/=-]+/gu,
  /EAA\w{8,}/gu,
  /(?<![\w-])eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/gu,
  /(?<!\d)\d+\|[\w-]{16,}/gu,
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/giu,
  /-----BEGIN [\s\S]*?(?:-----END [^-]*-----|$)/gu,
  /data:[\w.+-]*\/[\w.+-]*[;,]\S*/giu
]

/** A word that announces a secret, followed by the secret. */
const named = new RegExp(
  `((?:${stems}|${abbreviations}|(?<!\\p{L})(?:pass|pwd|api[ _-]?key)|secret|token)\\p{L}{0,16}` +
    "\\s*(?:[=:：]|(?<!\\p{L})is(?!\\p{L}))\\s*)\\S+",
  "giu"
)

/** Long runs of characters that may be a key or a token, except the provider's ids of messages. */
const runs = /(?<!wamid\.)(?<![\w~=+-])[\w~=+-]{20,}/gu

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/iu
const ownId = /^[a-z]{2,4}_[0-7][0-9A-HJKMNP-TV-Z]{25}$/u

/** A word, a number, or nothing. */
const isWord = (piece: string): boolean => /^(?:\d*|[A-Za-z]?[a-z]*|[A-Z]*)$/u.test(piece)

/**
 * Whether a long run looks random: its pieces that are neither words nor numbers have at least 12 characters in all.
 */
const isRandom = (run: string): boolean =>
  !uuid.test(run) && !ownId.test(run) &&
  run.split(/[_~=+-]/u).reduce((sum, piece) => isWord(piece) ? sum : sum + piece.length, 0) >= 12

/** Base64 with its slashes, which {@link runs} would cut. */
const base64 = /(?<![\w+/=.:-])[A-Za-z\d+/]{40,}={0,2}/gu

/** Whether a long run is not a path of words. */
const isMixed = (run: string): boolean => [/[a-z]/u, /[A-Z]/u, /\d/u].every((kind) => kind.test(run))

/** URLs: the user and password, the query and the fragment may hold a secret. */
const urls = /\b([a-z][a-z\d+.-]{0,20}:\/\/)([^\s/?#"'<>]*@)?([^\s?#"'<>]*)([?#][^\s"'<>]*)?/giu

/** Replaces everything in a text that looks like a secret by {@link mark}. */
export const redacted = (text: string): string => {
  let without = text.replaceAll(
    urls,
    (_, scheme: string, access: string | undefined, place: string, query: string | undefined) =>
      `${scheme}${access === undefined ? "" : `${mark}@`}${place}${query === undefined ? "" : `${query[0]}${mark}`}`
  )
  for (const form of known) without = without.replaceAll(form, mark)
  without = without.replaceAll(base64, (run) => isMixed(run) ? mark : run)
  without = without.replaceAll(runs, (run) => isRandom(run) ? mark : run)
  // a letter and its accent may be two characters
  if (announcesCode.test(text.normalize("NFC"))) without = without.replaceAll(codes, mark)
  // after the codes, of which it would take the first group of digits alone
  return without.replaceAll(named, (_, word: string) => `${word}${mark}`)
}

/** The beginning of a text, without half a character at its end. */
const cut = (text: string): string => text.slice(0, maxLength).replace(/[\ud800-\udbff]$/u, "")

const hidden = (path: string): FieldValue => ({ path, value: mark, isRedacted: true, isCut: false })

const kept = (path: string, value: Scalar): FieldValue => {
  if (partsOf(path).some((part) => secretName.test(part))) return hidden(path)
  if (typeof value !== "string") return { path, value, isRedacted: false, isCut: false }
  const without = redacted(value)
  return { path, value: cut(without), isRedacted: without !== value, isCut: without.length > maxLength }
}

const encoder = new TextEncoder()

const sizeOf = (field: FieldValue): number => encoder.encode(JSON.stringify(field)).length

/**
 * Takes the values of a body and redacts them. {@link checked} then redacts the values of templates that carry codes.
 */
export const of = (body: unknown, names: ReadonlySet<string>): Unchecked => {
  const fields: Array<FieldValue> = []
  const templates: Array<Unchecked["templates"][number]> = []
  let [bytes, omitted] = [0, 0]
  BodyShape.walk(body, names, { fields: maxLooked, items: Infinity }, ({ path, type }, value) => {
    if (type === "object") {
      if (!templateName.test(partsOf(path).at(-1)!)) return
      const { name } = value as { readonly name?: unknown }
      templates.push({ path, name: typeof name === "string" ? name : null })
    } else if (type !== "list" && type !== "unknown") {
      const field = kept(path, value as Scalar)
      // `checked` may replace the value by a longer mark
      const size = Math.max(sizeOf(field), sizeOf(hidden(path)))
      if (bytes + size > maxBytes) omitted += 1
      else {
        bytes += size
        fields.push(field)
      }
    }
  })
  return { fields, omitted, templates }
}

/**
 * The values that may be kept, once it is known which templates carry one-time codes: those of authentication, and
 * those that are not known. A template without a name counts as one that does.
 */
export const checked = (
  { fields, omitted, templates }: Unchecked,
  carriesCode: (name: string) => boolean
): BodyValues => {
  const secret = templates.filter(({ name }) => name === null || carriesCode(name))
  return {
    omitted,
    fields: fields.map((field) =>
      secret.some(({ path }) => field.path.startsWith(`${path}.`) && !plainParts.has(field.path.slice(path.length + 1)))
        ? hidden(field.path)
        : field
    )
  }
}
