/** The resumable uploads of the simulated Cloud API. Each returns the handle of a template's sample file. */
import * as Errors from "../CloudApiErrors.ts"

/** The id of the app to which every access token belongs. */
export const appId = "705042009999999"

const types = new Set(["application/pdf", "image/jpeg", "image/jpg", "image/png", "video/mp4"])

/** The response that begins an upload. */
type Session = { readonly id: string }

/** The response to the upload's file. */
type Handle = { readonly h: string }

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
  const lengths = new Map<string, number>()
  let made = 0
  return {
    begin: (query) => {
      const length = Number(query.get("file_length"))
      const type = query.get("file_type") ?? ""
      if (!(length > 0)) return Errors.badParameter("(#100) The parameter file_length is required.")
      if (!types.has(type)) return Errors.badParameter(`(#100) The file type ${type} is not supported.`)
      const id = `upload:MTphdHRhY2htZW50${made++}?sig=ARZqkGCA_uQMxC8nHKI`
      lengths.set(id, length)
      return { id }
    },
    take: (session, { authorization, length, offset }) => {
      if (!authorization?.startsWith("OAuth ")) return Errors.badToken("The scheme of the access token must be OAuth.")
      const wanted = lengths.get(session)
      if (wanted === undefined) return Errors.badParameter("(#100) The upload session is unknown.")
      if (offset !== "0" || length !== wanted) {
        return Errors.badParameter("(#100) The part has a wrong offset or length.")
      }
      lengths.delete(session)
      return { h: `4::${Buffer.from(session).toString("base64url")}` }
    }
  }
}
