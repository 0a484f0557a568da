/**
 * Builds the TLS options of connections from the encryption that a server's URL requests: certificates, keys, and what
 * is verified.
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

/** The certificate authorities that the machine, Node.js and `NODE_EXTRA_CA_CERTS` trust. */
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
 * Returns a function that makes the options of each connection to a host. It reads the files again each time, so that a
 * renewed certificate is used; if that fails, it returns the last options. Fails if the files cannot be read or used at
 * first.
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
    // an address is not a valid server name (RFC 6066); without this option, the client would send the host's name
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
          // the files may be half renewed: the next connection reads them again
        }
        return last
      }
    }
  )
}

/** Whether a connection failed because of certificates or encryption, so that retrying cannot help. */
export const isRefusal = (cause: unknown): boolean =>
  cause instanceof Error && (
    cause.message === "The server does not support TLS" ||
    "code" in cause && typeof cause.code === "string" &&
      /^(ERR_TLS_|ERR_SSL_|UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_|INVALID_)/.test(cause.code)
  )
