/**
 * The encryption of connections as the URL asks for it: what is verified, by which files.
 */
import { Redacted, Result } from "effect"
import * as fs from "node:fs"
import { isIP } from "node:net"
import * as tls from "node:tls"
import * as DataDirectory from "./DataDirectory.ts"
import type { Encryption, Host } from "./ServerUrl.ts"

/** The contents of the files that a URL names. */
type Files = Pick<tls.SecureContextOptions, "ca" | "cert" | "key" | "crl">

const file = (name: string, path: string): string => {
  try {
    return fs.readFileSync(path, "utf8")
  } catch (error) {
    throw new Error(`${name} cannot be read: ${DataDirectory.describe(error)}`, { cause: error })
  }
}

/** The authorities of the machine, with those that Node.js trusts and those of `NODE_EXTRA_CA_CERTS`. */
const systemAuthorities = (): ReadonlyArray<string> => [
  ...tls.getCACertificates("default"),
  ...tls.getCACertificates("system")
]

const read = ({ authorities, certificate, key, revoked }: Encryption): Files => ({
  ...authorities === undefined
    ? {}
    : { ca: authorities === "system" ? [...systemAuthorities()] : file("sslrootcert", authorities) },
  ...certificate === undefined ? {} : { cert: file("sslcert", certificate) },
  ...key === undefined ? {} : { key: file("sslkey", key) },
  ...revoked === undefined ? {} : { crl: file("sslcrl", revoked) }
})

/**
 * The options of each connection to a host. The files are read again for each, so that a renewed certificate is used;
 * one that cannot be read meanwhile is used as it last was. Fails if they cannot be read or used at first.
 */
export const make = (encryption: Encryption, { name }: Host): Result.Result<() => tls.ConnectionOptions, string> => {
  const { authorities, isNamed, maxVersion, minVersion, mode, passphrase } = encryption
  const isVerified = mode === "verify-ca" || mode === "verify-full" || authorities !== undefined
  const context: tls.SecureContextOptions = {
    ...minVersion === undefined ? {} : { minVersion: minVersion as tls.SecureVersion },
    ...maxVersion === undefined ? {} : { maxVersion: maxVersion as tls.SecureVersion },
    ...passphrase === undefined ? {} : { passphrase: Redacted.value(passphrase) }
  }
  const current = (): tls.ConnectionOptions => ({
    host: name,
    // an address is no name of a server (RFC 6066); the client would give the host's name if there were none
    servername: isNamed && isIP(name) === 0 ? name : "",
    rejectUnauthorized: isVerified,
    ...mode === "verify-full" ? {} : { checkServerIdentity: () => undefined },
    secureContext: tls.createSecureContext({ ...context, ...read(encryption) })
  })
  return Result.map(
    Result.try({
      try: current,
      catch: (error) => `the encryption cannot be used: ${(error as Error).message}`
    }),
    (first) => {
      let last = first
      return () => {
        try {
          last = current()
        } catch {
          // half of a renewal: the next connection reads it again
        }
        return last
      }
    }
  )
}

/** Whether a connection failed because of certificates or encryption, which no time mends. */
export const isRefusal = (cause: unknown): boolean =>
  cause instanceof Error && (
    cause.message === "The server does not support TLS" ||
    "code" in cause && typeof cause.code === "string" &&
      /^(ERR_TLS_|ERR_SSL_|UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_|INVALID_)/.test(cause.code)
  )
