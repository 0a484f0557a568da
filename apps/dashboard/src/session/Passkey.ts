/** Passkeys in this browser (WebAuthn): creates one, and signs with one. */
import type { PasskeyAssertion, PasskeyCreation, PasskeyRegistration, PasskeyRequest } from "@wac/client/internal"
import { Problem } from "../ui/Problem.ts"

const isAddress = /^\[|^\d+(\.\d+){3}$/.test(location.hostname)

/** Whether passkeys work on this page: only at a domain name, and only over HTTPS or on the same machine. */
export const hasPasskeys: boolean = isSecureContext && !isAddress && "PublicKeyCredential" in window &&
  "parseCreationOptionsFromJSON" in PublicKeyCredential

const base64url = (buffer: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

const refusals: Readonly<Record<string, string>> = {
  InvalidStateError: "this authenticator has a passkey for your account already",
  NotAllowedError: "the browser got no passkey: it was cancelled, or took too long",
  SecurityError: "passkeys do not work at this address of the service"
}

/** The problem for an exception of the browser, whose name identifies the cause. */
const problemOf = (error: unknown): Problem =>
  new Problem(
    "credential",
    (error instanceof DOMException ? refusals[error.name] : undefined) ?? "the browser could not use a passkey"
  )

const asked = async (credential: Promise<Credential | null>): Promise<PublicKeyCredential> => {
  try {
    const found = await credential
    if (found instanceof PublicKeyCredential) return found
  } catch (error) {
    throw problemOf(error)
  }
  throw problemOf(undefined)
}

/** Asks the person to create a passkey; throws a {@link Problem} if they do not, or cannot. */
export const make = async (options: PasskeyCreation): Promise<PasskeyRegistration> => {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(structuredClone(options) as never)
  const { id, response } = await asked(navigator.credentials.create({ publicKey }))
  if (!(response instanceof AuthenticatorAttestationResponse)) throw problemOf(undefined)
  return {
    id,
    clientDataJSON: base64url(response.clientDataJSON),
    attestationObject: base64url(response.attestationObject),
    transports: response.getTransports()
  }
}

/** Asks the person to sign with one of their passkeys; throws a {@link Problem} if they do not, or cannot. */
export const sign = async (options: PasskeyRequest): Promise<PasskeyAssertion> => {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(structuredClone(options) as never)
  const { id, response } = await asked(navigator.credentials.get({ publicKey }))
  if (!(response instanceof AuthenticatorAssertionResponse)) throw problemOf(undefined)
  return {
    id,
    clientDataJSON: base64url(response.clientDataJSON),
    authenticatorData: base64url(response.authenticatorData),
    signature: base64url(response.signature)
  }
}
