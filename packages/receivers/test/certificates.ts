/**
 * X.509 certificates made on the spot (RFC 5280), since Node can read but not make them.
 */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"

/** A certificate and its key, in PEM. */
export interface Credentials {
  readonly cert: string
  readonly key: string
}

export interface Wish {
  /** The common name and, unless `names` says otherwise, the one name that it is for. */
  readonly name: string
  readonly names?: ReadonlyArray<string>
  readonly from?: string
  readonly to?: string
  /** Who signs it; itself if left out. */
  readonly issuer?: Authority
}

export interface Authority {
  readonly name: string
  readonly key: KeyObject
}

const der = (tag: number, ...contents: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(contents)
  const length = content.length < 0x80 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

const sequence = (...contents: ReadonlyArray<Uint8Array>) => der(0x30, ...contents)
const text = (tag: number, value: string) => der(tag, Buffer.from(value))
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"))
const dn = (name: string) => sequence(der(0x31, sequence(oid("550403"), text(0x0c, name))))
const time = (iso: string) => text(0x18, `${iso.replaceAll("-", "")}000000Z`)
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))

let serial = 0

/** A certificate as wished, on an elliptic curve; valid from 2026 to 2099 unless said otherwise. */
export const make = (wish: Wish): Credentials => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const issuer = wish.issuer ?? { name: wish.name, key: privateKey }
  const names = (wish.names ?? [wish.name]).map((name) => text(0x82, name))
  const alternatives = sequence(oid("551d11"), der(0x04, sequence(...names)))
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([++serial])),
    ecdsaWithSha256,
    dn(issuer.name),
    sequence(time(wish.from ?? "2026-01-01"), time(wish.to ?? "2099-12-31")),
    dn(wish.name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(alternatives))
  )
  const signature = sign("sha256", toBeSigned, issuer.key)
  const whole = sequence(toBeSigned, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString("base64")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  }
}

/** Who signs certificates that nobody trusts. */
export const authority = (name: string): Authority => ({
  name,
  key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
})
