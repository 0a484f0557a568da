/** The resumable uploads of the simulated Cloud API. Each returns the handle of a template's sample file. */
import * as Errors from "../CloudApiErrors.ts"

/** The id of the app to which every access token belongs. */
export const appId = "705042009999999"

const types = new Set(["application/pdf", "image/jpeg", "image/jpg", "image/png", "video/mp4"])

/** The response that begins an upload. */
type Session = { readonly id: string }

/** The response to the upload's file. */
type Handle = { readonly h: string }

/** An upload that has begun. */
interface Upload {
  readonly length: number
  readonly type: string
}

/** The bytes of a file that one line of its handle is for: our guess, since no source tells the size. */
const partBytes = 256 * 1024

/**
 * The handle of a file: a line for each of its parts, of the length that Meta's have.
 * Source: Meta, "Utility templates", the example of a header's handle.
 */
const handleOf = (session: string, { length, type }: Upload): string =>
  Array.from({ length: Math.ceil(length / partBytes) }, (_, part) => {
    const signature = Buffer.from(`${part} ${session}`).toString("base64url").padEnd(110, "0").slice(0, 110)
    return `4::${
      Buffer.from(type).toString("base64")
    }:${signature}:e:1759093121:${appId}:100089620928913:ARYyOAh63uQLhDpqOdk`
  }).join("\n")

export interface Samples {
  /** Begins an upload of a file with this name, length and type. */
  readonly begin: (query: URLSearchParams) => Session | Errors.Refusal
  /** Accepts the whole file of an upload, once. */
  readonly take: (
    session: string,
    call: { readonly authorization: string | undefined; readonly offset: string | undefined; readonly length: number }
  ) => Handle | Errors.Refusal
}

export const make = (): Samples => {
  const uploads = new Map<string, Upload>()
  let made = 0
  return {
    begin: (query) => {
      const length = Number(query.get("file_length"))
      const type = query.get("file_type") ?? ""
      if (!(length > 0)) return Errors.badParameter("(#100) The parameter file_length is required.")
      if (!types.has(type)) return Errors.badParameter(`(#100) The file type ${type} is not supported.`)
      const id = `upload:MTphdHRhY2htZW50${made++}?sig=ARZqkGCA_uQMxC8nHKI`
      uploads.set(id, { length, type })
      return { id }
    },
    take: (session, { authorization, length, offset }) => {
      if (!authorization?.startsWith("OAuth ")) return Errors.badToken("The scheme of the access token must be OAuth.")
      const wanted = uploads.get(session)
      if (wanted === undefined) return Errors.badParameter("(#100) The upload session is unknown.")
      if (offset !== "0" || length !== wanted.length) {
        return Errors.badParameter("(#100) The part has a wrong offset or length.")
      }
      uploads.delete(session)
      return { h: handleOf(session, wanted) }
    }
  }
}
