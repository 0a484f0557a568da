/**
 * A certificate authority of one's own, and a certificate of it for this machine.
 */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"

/** Files in PEM, and what a server presents. */
export interface Certificates {
  /** The authority's certificate, for those who are to trust it. */
  readonly authority: string
  readonly certificateFile: string
  readonly keyFile: string
  readonly cert: Buffer
  readonly key: Buffer
}

/** Makes an authority and a certificate for 127.0.0.1 in a directory. */
export const make = async (directory: string): Promise<Certificates> => {
  const at = (name: string) => join(directory, name)
  const openssl = (...args: ReadonlyArray<string>) =>
    promisify(execFile)("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...args
    ])
  await openssl("-subj", "/CN=An operator's authority", "-keyout", at("authority.key"), "-out", at("authority.pem"))
  await openssl(
    ...["-CA", at("authority.pem"), "-CAkey", at("authority.key"), "-subj", "/CN=127.0.0.1"],
    ...["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE"],
    ...["-keyout", at("server.key"), "-out", at("server.pem")]
  )
  return {
    authority: at("authority.pem"),
    certificateFile: at("server.pem"),
    keyFile: at("server.key"),
    cert: readFileSync(at("server.pem")),
    key: readFileSync(at("server.key"))
  }
}
