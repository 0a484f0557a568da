/**
 * An authenticator in software, with the browser in front of it: ES256, and no attestation (WebAuthn).
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto"

/** What a test has it do otherwise than a right one does. */
interface Manner {
  /** The origin of the page. */
  readonly origin?: string
  /** The domain name that the browser passes on. */
  readonly rpId?: string
  /** What the browser says the authenticator did. */
  readonly type?: string
  readonly challenge?: string
  readonly counter?: number
  /** Whether a person touched it. */
  readonly isPresent?: boolean
}

const hash = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest()

/** A CBOR byte string. */
const cborBytes = (bytes: Buffer): Buffer => {
  if (bytes.length < 24) return Buffer.concat([Buffer.from([0x40 + bytes.length]), bytes])
  return Buffer.concat([
    bytes.length < 256
      ? Buffer.from([0x58, bytes.length])
      : Buffer.from([0x59, bytes.length >> 8, bytes.length & 255]),
    bytes
  ])
}

/** A CBOR text string of fewer than 24 bytes. */
const cborText = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])

/** The options of a new credential, as far as it reads them. */
interface Creation {
  readonly challenge: string
  readonly rp: { readonly id: string }
}

/** The options of a use, as far as it reads them. */
interface Request {
  readonly challenge: string
  readonly rpId: string
}

/** Makes an authenticator with one credential, for a page at an origin. It counts its signatures if `isCounting`. */
export const make = (page: string, { isCounting = true }: { readonly isCounting?: boolean } = {}) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const { x, y } = publicKey.export({ format: "jwk" })
  const rawId = randomBytes(32)
  const id = rawId.toString("base64url")
  let signatures = 0

  const clientData = (type: string, challenge: string, { origin = page, ...manner }: Manner): Buffer =>
    Buffer.from(JSON.stringify({
      type: manner.type ?? type,
      challenge: manner.challenge ?? challenge,
      origin,
      crossOrigin: false
    }))

  const authenticatorData = (rpId: string, flags: number, manner: Manner, credential = Buffer.alloc(0)): Buffer => {
    signatures += 1
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(manner.counter ?? (isCounting ? signatures : 0))
    const present = manner.isPresent === false ? flags & ~1 : flags
    return Buffer.concat([hash(manner.rpId ?? rpId), Buffer.from([present]), counter, credential])
  }

  /** The public key as COSE: EC2, ES256, P-256. */
  const cose = Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    cborBytes(Buffer.from(x!, "base64url")),
    Buffer.from([0x22]),
    cborBytes(Buffer.from(y!, "base64url"))
  ])

  return {
    id,
    /** What the browser reports of a new credential. */
    create: ({ challenge, rp }: Creation, manner: Manner = {}) => {
      const length = Buffer.from([0, rawId.length])
      const data = authenticatorData(
        rp.id,
        0x41,
        manner,
        Buffer.concat([Buffer.alloc(16), length, rawId, cose])
      )
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText("fmt"),
        cborText("none"),
        cborText("attStmt"),
        Buffer.from([0xa0]),
        cborText("authData"),
        cborBytes(data)
      ])
      return {
        id,
        clientDataJSON: clientData("webauthn.create", challenge, manner).toString("base64url"),
        attestationObject: attestationObject.toString("base64url"),
        transports: ["internal"]
      }
    },
    /** What the browser reports of a use. */
    get: ({ challenge, rpId }: Request, manner: Manner = {}) => {
      const data = authenticatorData(rpId, 0x01, manner)
      const client = clientData("webauthn.get", challenge, manner)
      const signature = sign("sha256", Buffer.concat([data, hash(client)]), privateKey)
      return {
        id,
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: signature.toString("base64url")
      }
    }
  }
}
