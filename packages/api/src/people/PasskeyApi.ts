/**
 * `/internal/factor/passkeys` and the options of passkeys (contract §17): what the service asks browsers for, and what
 * they return.
 */
import { Passkey as Passkeys, PlainText } from "@wac/core"
import { Duration, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anybody, NeedsFreshSession, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { ChallengesFactor, ChecksPasskey, ChecksSecret } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { noQuery } from "../Lists.ts"
import { byId } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"

const credentialId = "mJ3v8Qk2xR7tY1wZ5bN0cA"

const lifetime = `${Duration.toMinutes(Passkeys.lifetime)} minutes`

const base64url = (maxLength: number) => {
  const pattern = "^[A-Za-z0-9_-]+$"
  return Schema.String.check(
    Schema.isPattern(new RegExp(pattern, "u"), {
      message: "must be base64url without padding",
      toJsonSchema: () => ({ pattern })
    }),
    Schema.isMinLength(1),
    Schema.isMaxLength(maxLength)
  )
}

/** The id of a credential: at most 1,023 bytes. */
const CredentialId = base64url(1364)

/** A part of a credential. The limit is far above what browsers and authenticators write. */
const Part = base64url(16_384)

const Transports = Schema.Array(PlainText.between(1, 32)).check(Schema.isMaxLength(16))

export const Passkey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  createdAt: Timestamp,
  lastUsedAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Passkey", description: "A passkey of the person's second factor." }).pipe(Example.shown({
  id: "psk_01K8ZQ9H6J0K2M4N6P8Q0R2S4T",
  name: "My laptop",
  createdAt: ExampleValues.times.created,
  lastUsedAt: null
}))

const Descriptor = Schema.Struct({
  type: Schema.Literal("public-key"),
  id: Schema.String,
  transports: Schema.Array(Schema.String)
})

const descriptor = { type: "public-key" as const, id: credentialId, transports: ["internal", "hybrid"] }

const challenge = "c2lnbiBtZQ"

export const PasskeyCreation = Schema.Struct({
  challenge: Schema.String,
  rp: Schema.Struct({ id: Schema.String, name: Schema.String }),
  user: Schema.Struct({ id: Schema.String, name: Schema.String, displayName: Schema.String }),
  pubKeyCredParams: Schema.Array(Schema.Struct({ type: Schema.Literal("public-key"), alg: Schema.Int })),
  excludeCredentials: Schema.Array(Descriptor),
  authenticatorSelection: Schema.Struct({
    residentKey: Schema.Literal("preferred"),
    userVerification: Schema.Literal("preferred")
  }),
  attestation: Schema.Literal("none"),
  timeout: Schema.Int.annotate({ description: "In milliseconds" })
}).annotate({
  identifier: "PasskeyCreation",
  description: "Options for the browser's `PublicKeyCredential.parseCreationOptionsFromJSON`."
}).pipe(Example.shown({
  challenge,
  rp: { id: "wac.example.com", name: "wac" },
  user: { id: "dXNyXzAx", name: ExampleValues.person.email, displayName: ExampleValues.person.email },
  pubKeyCredParams: [{ type: "public-key", alg: -7 }],
  excludeCredentials: [],
  authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
  attestation: "none",
  timeout: 300_000
}))

export const PasskeyRequest = Schema.Struct({
  challenge: Schema.String,
  rpId: Schema.String,
  allowCredentials: Schema.Array(Descriptor).annotate({ description: "Empty if the person has no passkey" }),
  userVerification: Schema.Literal("preferred"),
  timeout: Schema.Int.annotate({ description: "In milliseconds" })
}).annotate({
  identifier: "PasskeyRequest",
  description: "Options for the browser's `PublicKeyCredential.parseRequestOptionsFromJSON`."
}).pipe(Example.shown({
  challenge,
  rpId: "wac.example.com",
  allowCredentials: [descriptor],
  userVerification: "preferred",
  timeout: 300_000
}))

export const PasskeyAssertion = Schema.Struct({
  id: CredentialId,
  clientDataJSON: Part,
  authenticatorData: Part,
  signature: Part
}).annotate({
  identifier: "PasskeyAssertion",
  description: "What the browser returned for the options: the credential's `id`, and parts of its `response`."
}).pipe(Example.shown({
  id: credentialId,
  clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
  authenticatorData: "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
  signature: "MEUCIQ"
}))

export const PasskeyRegistration = Schema.Struct({
  id: CredentialId,
  clientDataJSON: Part,
  attestationObject: Part,
  transports: Transports
}).annotate({
  identifier: "PasskeyRegistration",
  description: "What the browser returned for the options: the credential's `id`, and parts of its `response`."
}).pipe(Example.shown({
  id: credentialId,
  clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0",
  attestationObject: "o2NmbXRkbm9uZQ",
  transports: ["internal"]
}))

export const AddPasskey = Schema.Struct({
  name: PlainText.trimmed(64),
  credential: PasskeyRegistration
}).annotate({ identifier: "AddPasskey", description: "A new passkey, and what to call it." }).pipe(
  Example.shown({ name: "My laptop", credential: Example.of(PasskeyRegistration) })
)

export const AddedPasskey = Schema.Struct({
  passkey: Passkey,
  recoveryCodes: Schema.Array(Schema.String).annotate({
    description: "Ten recovery codes with the first part of the second factor; otherwise empty. Shown only once"
  })
}).annotate({ identifier: "AddedPasskey", description: "The passkey that was added." }).pipe(
  Example.shown({ passkey: Example.of(Passkey), recoveryCodes: [] })
)

export const RequestPasskey = Schema.Struct({
  challenge: Schema.RedactedFromValue(PlainText.between(1, 256))
}).annotate({
  identifier: "RequestPasskey",
  description: "The challenge of the error `second_factor_required`."
}).pipe(Example.shown({ challenge: "…" }))

/** The options of the second step of a sign-in. */
export class SignInPasskeyApi extends HttpApiGroup.make("signInPasskey").add(
  HttpApiEndpoint.post("request", "/internal/session/factor/options", {
    payload: RequestPasskey,
    success: PasskeyRequest,
    error: writing
  }).annotate(Access, anybody).annotate(Audited, null).annotate(ChecksSecret, true).annotate(ChallengesFactor, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Get the options of a passkey for a sign-in",
      description:
        "With them the browser signs the challenge of the sign-in, which its result ends. 404 if the service has no domain name."
    }))
).annotateMerge(
  OpenApi.annotations({
    title: "Passkey of a sign-in (dashboard)",
    description: "What a browser needs to end a sign-in with a passkey."
  })
) {}

const read = { query: noQuery, error: reading }

/** A person's own passkeys. `GET /internal/factor` lists them. */
export class PasskeyApi extends HttpApiGroup.make("passkeys").add(
  HttpApiEndpoint.put("start", "/internal/factor/passkeys/options", { ...read, success: PasskeyCreation })
    .annotate(Access, session("member")).annotate(Audited, null).annotate(NeedsFreshSession, true)
    .annotate(ChecksSecret, true).annotateMerge(OpenApi.annotations({
      summary: "Get the options of a new passkey",
      description:
        `With a challenge that lasts ${lifetime}, in place of an earlier one. 404 if you have no password at this ` +
        "service, or if the service has no domain name."
    })),
  HttpApiEndpoint.post("add", "/internal/factor/passkeys", {
    payload: AddPasskey,
    success: AddedPasskey.pipe(HttpApiSchema.status(201)),
    error: writing
  }).annotate(Access, session("member")).annotate(Audited, "factor.add_passkey").annotate(NeedsFreshSession, true)
    .annotate(ChecksSecret, true).annotate(ChecksPasskey, true).annotate(ChallengesFactor, true).annotateMerge(
      OpenApi.annotations({
        summary: "Add a passkey",
        description:
          "From then on each sign-in needs your second factor: a passkey, a code of your app or a recovery code. At most " +
          `${Passkeys.maxPerPerson} passkeys.`
      })
    ),
  HttpApiEndpoint.delete("remove", "/internal/factor/passkeys/:id", {
    params: byId,
    ...read,
    success: HttpApiSchema.NoContent
  }).annotate(Access, session("member")).annotate(Audited, "factor.remove_passkey").annotate(NeedsFreshSession, true)
    .annotate(ChecksSecret, true).annotateMerge(OpenApi.annotations({
      summary: "Remove a passkey",
      description:
        "Takes effect immediately. Without your last passkey, and without an authenticator app, your second factor is off."
    })),
  HttpApiEndpoint.put("startConfirming", "/internal/session/confirm/options", { ...read, success: PasskeyRequest })
    .annotate(Access, session("member")).annotate(Audited, null).annotate(ChecksSecret, true).annotateMerge(
      OpenApi.annotations({
        summary: "Get the options of a passkey as a proof of presence",
        description:
          `For \`POST /internal/session/confirm\`. With a challenge that lasts ${lifetime}, in place of an earlier one.`
      })
    )
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Passkeys (dashboard)",
    description: "Passkeys that your sign-ins accept besides the password, as a second factor."
  })
) {}
