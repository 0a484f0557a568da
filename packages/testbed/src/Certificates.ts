/**
 * Makes a certificate authority for tests, and a certificate that it has signed for 127.0.0.1.
 */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

/** The authority's PEM file, and what a server needs for TLS. */
export interface Certificates {
  /** The path of the authority's certificate, for clients that must trust it. */
  readonly authority: string
  readonly certificateFile: string
  readonly keyFile: string
  readonly cert: Buffer
  readonly key: Buffer
}

/** Makes an authority and a certificate for 127.0.0.1 in a directory. */
export const make = async (directory: string): Promise<Certificates> => {
  const at = (name: string) => join(directory, name)
  const openssl = (name: string, subject: string, ...more: ReadonlyArray<string>) => {
    const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    const files = ["-keyout", at(`${name}.key`), "-out", at(`${name}.pem`)]
    return promisify(execFile)("openssl", [...made, "-subj", `/CN=${subject}`, ...files, ...more])
  }
  const extensions = ["subjectAltName=IP:127.0.0.1", "basicConstraints=CA:FALSE"].flatMap((each) => ["-addext", each])
  await openssl("authority", "An operator's authority")
  await openssl("server", "127.0.0.1", "-CA", at("authority.pem"), "-CAkey", at("authority.key"), ...extensions)
  return {
    authority: at("authority.pem"),
    certificateFile: at("server.pem"),
    keyFile: at("server.key"),
    cert: readFileSync(at("server.pem")),
    key: readFileSync(at("server.key"))
  }
}
