/**
 * The port `PasskeyVerifier`, with the library `@simplewebauthn/server`.
 */
import { Passkey, PasskeyVerifier } from "@wac/core"
import { Effect, Layer } from "effect"

/** The formats of attestation statements for which the library has root certificates. */
const formats = ["android-key", "android-safetynet", "apple"] as const

/** Loaded on demand: few people have passkeys, and it is large. */
const webAuthn = Effect.promise(async () => {
  const library = await import("#webauthn")
  // the maker of an authenticator does not matter, and checking it would load lists from addresses in the statement
  for (const identifier of formats) library.SettingsService.setRootCertificates({ identifier, certificates: [] })
  return library
})

type Library = Effect.Success<typeof webAuthn>

/**
 * Runs a check of the library, which throws if anything is wrong. Its messages contain challenges, so they are dropped.
 */
const verified = <A>(check: (library: Library) => Promise<A>): Effect.Effect<A, PasskeyVerifier.NotVerified> =>
  Effect.flatMap(webAuthn, (library) =>
    Effect.tryPromise({
      try: () => check(library),
      catch: () => new PasskeyVerifier.NotVerified()
    }))

const refused = new PasskeyVerifier.NotVerified()

export const layer = Layer.succeed(
  PasskeyVerifier.PasskeyVerifier,
  PasskeyVerifier.PasskeyVerifier.of({
    register: ({ attestationObject, clientDataJSON, id }, { challenge, party }) =>
      Effect.flatMap(
        verified(({ verifyRegistrationResponse }) =>
          verifyRegistrationResponse({
            response: {
              id,
              rawId: id,
              type: "public-key",
              response: { clientDataJSON, attestationObject },
              clientExtensionResults: {}
            },
            expectedChallenge: challenge,
            expectedOrigin: party.origin,
            expectedRPID: party.id,
            requireUserVerification: false,
            supportedAlgorithmIDs: [...Passkey.algorithms]
          })
        ),
        (found) => {
          const credential = found.registrationInfo?.credential
          // the id in the authenticator's own data counts
          if (!found.verified || credential?.id !== id) return Effect.fail(refused)
          return Effect.succeed({ credentialId: id, publicKey: credential.publicKey, counter: credential.counter })
        }
      ),
    assert: ({ authenticatorData, clientDataJSON, id, signature }, { counter, credentialId, publicKey }, expected) =>
      Effect.flatMap(
        verified(({ verifyAuthenticationResponse }) =>
          verifyAuthenticationResponse({
            response: {
              id,
              rawId: id,
              type: "public-key",
              response: { clientDataJSON, authenticatorData, signature },
              clientExtensionResults: {}
            },
            expectedChallenge: expected.challenge,
            expectedOrigin: expected.party.origin,
            expectedRPID: expected.party.id,
            requireUserVerification: false,
            // a copy, because the library does not accept a shared buffer
            credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter }
          })
        ),
        ({ authenticationInfo, verified }) =>
          verified && id === credentialId ? Effect.succeed(authenticationInfo.newCounter) : Effect.fail(refused)
      )
  })
)
