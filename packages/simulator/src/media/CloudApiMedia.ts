/**
 * The files of the simulated Cloud API: uploads by number, which are kept for 30 days, and addresses that live for five
 * minutes.
 */
import { Duration, type Schema } from "effect"
import { createHash } from "node:crypto"
import * as Errors from "../CloudApiErrors.ts"

/** How long an uploaded file is kept, in milliseconds. */
const keptFor = Duration.toMillis(Duration.days(30))

/** How long an address lives, in milliseconds. */
const addressLives = Duration.toMillis(Duration.minutes(5))

const kilobyte = 1024
const megabyte = 1024 * kilobyte

/**
 * The types that upstream accepts, and their maximum sizes in bytes, for all kinds of messages.
 * Sources: the list in the error of github.com/fbsamples/whatsapp-api-examples/issues/10; the sizes in
 * docs.aws.amazon.com/social-messaging/latest/userguide/supported-media-types.html.
 */
const largest: ReadonlyArray<readonly [types: ReadonlyArray<string>, bytes: number]> = [
  [["audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg", "audio/opus"], 16 * megabyte],
  [[
    "application/vnd.ms-powerpoint",
    "application/msword",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/pdf",
    "text/plain",
    "application/vnd.ms-excel"
  ], 100 * megabyte],
  [["image/jpeg", "image/png"], 5 * megabyte],
  [["image/webp"], 500 * kilobyte],
  [["video/mp4", "video/3gpp"], 16 * megabyte]
]

const supported = largest.flatMap(([types]) => types).join(", ")

/** A file, uploaded by a number of ours or sent by a customer. */
export interface File {
  readonly id: string
  readonly number: string
  readonly type: string
  readonly bytes: Uint8Array
  readonly expiresAt: number
  /** False statements that upstream makes about the file, for tests. */
  readonly lies?: Lies
}

/** The false statements about a file. */
interface Lies {
  readonly url?: string
}

/** The fields of an upload's form. */
export interface Form {
  readonly product: string | undefined
  readonly type: string | undefined
  readonly file: { readonly type: string; readonly bytes: Uint8Array } | undefined
}

/** Reads the form of an upload; undefined if it is none. */
export const formOf = async (contentType: string, body: Uint8Array<ArrayBuffer>): Promise<Form | undefined> => {
  try {
    const form = await new Response(body, { headers: { "content-type": contentType } }).formData()
    const text = (name: string) => {
      const value = form.get(name)
      return typeof value === "string" ? value : undefined
    }
    const file = form.get("file")
    return {
      product: text("messaging_product"),
      type: text("type"),
      file: file instanceof Blob ? { type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) } : undefined
    }
  } catch {
    return undefined
  }
}

export interface Media {
  /** Stores an upload, or refuses it. */
  readonly upload: (number: string, form: Form | undefined, now: number) => File | Errors.Refusal
  /** Stores a customer's file. */
  readonly keep: (
    number: string,
    type: string,
    bytes: Uint8Array,
    now: number,
    lives: Duration.Duration,
    lies?: Lies
  ) => File
  readonly find: (id: string, now: number) => File | undefined
  readonly forget: (id: string) => void
  /** The response to a lookup of a file. */
  readonly shown: (file: File, url: string, now: number) => Schema.JsonObject
  /** The file at an address; `dead` if the address has expired; undefined if it is not an address of a file. */
  readonly at: (path: string, now: number) => File | "dead" | undefined
  /** How many uploads were accepted. */
  readonly uploads: () => number
}

export const make = (): Media => {
  const files = new Map<string, File>()
  let made = 0
  let uploads = 0
  const keep: Media["keep"] = (number, type, bytes, now, lives, lies = {}) => {
    const id = String(4_490_709_327_384_033 + made++)
    const file = { id, number, type, bytes, expiresAt: now + Duration.toMillis(lives), lies }
    files.set(id, file)
    return file
  }
  const find: Media["find"] = (id, now) => {
    const file = files.get(id)
    return file !== undefined && now < file.expiresAt ? file : undefined
  }
  return {
    keep,
    find,
    forget: (id) => void files.delete(id),
    uploads: () => uploads,
    upload: (number, form, now) => {
      if (form?.product !== "whatsapp") {
        return Errors.badParameter("(#100) The parameter messaging_product is required.")
      }
      if (form.file === undefined) return Errors.badParameter("(#100) The parameter file is required.")
      const type = form.type ?? form.file.type
      const limit = largest.find(([types]) => types.includes(type))?.[1]
      if (limit === undefined) {
        return Errors.badParameter(
          `Param file must be a file with one of the following types: ${supported}. Received file of type '${type}'.`
        )
      }
      if (form.file.bytes.length === 0 || form.file.bytes.length > limit) {
        return Errors.refusal({ code: 131053, details: "The file is empty, or larger than its type may be." })
      }
      uploads++
      return keep(number, type, form.file.bytes, now, Duration.millis(keptFor))
    },
    shown: ({ bytes, id, lies, type }, url, now) => ({
      messaging_product: "whatsapp",
      url: `${url}/whatsapp_business/attachments/?mid=${id}&ext=${now + addressLives}`,
      mime_type: type,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      file_size: bytes.length,
      id,
      ...lies
    }),
    at: (path, now) => {
      const { pathname, searchParams } = new URL(path, "http://simulator")
      if (pathname !== "/whatsapp_business/attachments/") return undefined
      const isAlive = Number(searchParams.get("ext")) > now
      return isAlive ? find(searchParams.get("mid") ?? "", now) ?? "dead" : "dead"
    }
  }
}
