/**
 * `/internal/factor` and `/internal/session/factor` (contract §17): the second factor of a sign-in.
 */
import { PlainText } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anybody, NeedsFreshSession, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import {
  ChallengesFactor,
  ChecksCode,
  ChecksPasskey,
  ChecksSecret,
  NeedsMembership,
  SignsIn
} from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { noQuery } from "../Lists.ts"
import { Passkey, PasskeyAssertion } from "./PasskeyApi.ts"
import { Session } from "./SessionApi.ts"

const recoveryCode = "4k2m-x9qd-7hwt"

/** A code of the authenticator app or, where the endpoint accepts it, a recovery code. */
export const Code = Schema.RedactedFromValue(PlainText.between(1, 64))

export const Factor = Schema.Struct({
  isOn: Schema.Boolean,
  hasApp: Schema.Boolean.annotate({ description: "Whether an authenticator app is a part of it" }),
  passkeys: Schema.Array(Passkey).annotate({ description: "The oldest first" }),
  recoveryCodesLeft: Schema.Int.annotate({ description: "Unused recovery codes" })
}).annotate({ identifier: "Factor", description: "Whether the person's sign-ins need a second factor." }).pipe(
  Example.shown({ isOn: true, hasApp: true, passkeys: [], recoveryCodesLeft: 10 })
)

export const FactorEnrolment = Schema.Struct({
  secret: Schema.String.annotate({ description: "The secret for an authenticator app, in base32" }),
  uri: Schema.String.annotate({ description: "The same as an `otpauth://` address, for a QR code" })
}).annotate({
  identifier: "FactorEnrolment",
  description: "A new secret, which is not in use yet. Only this response contains it."
}).pipe(Example.shown({ secret: "…", uri: "otpauth://totp/wac:ana@example.com?issuer=wac&secret=…" }))

export const ConfirmFactor = Schema.Struct({ code: Code }).annotate({
  identifier: "ConfirmFactor",
  description: "The first code that the authenticator app shows."
}).pipe(Example.shown({ code: ExampleValues.code }))

export const RecoveryCodes = Schema.Struct({ recoveryCodes: Schema.Array(Schema.String) }).annotate({
  identifier: "RecoveryCodes",
  description: "Codes that replace one of the authenticator app, each once. Only this response contains them."
}).pipe(Example.shown({ recoveryCodes: [recoveryCode, "p0vz-3c8n-r51b"] }))

export const EndSignIn = Schema.Struct({
  challenge: Schema.RedactedFromValue(PlainText.between(1, 256)),
  code: Schema.optionalKey(Code),
  credential: Schema.optionalKey(PasskeyAssertion)
}).annotate({
  identifier: "EndSignIn",
  description:
    "The challenge of the error `second_factor_required`, and one proof: a code of the app or a recovery code, or a " +
    "passkey that has signed the challenge."
}).pipe(Example.shown({ challenge: "…", code: ExampleValues.code }))

/** The second step of a sign-in. */
export class SignInFactorApi extends HttpApiGroup.make("signInFactor").add(
  HttpApiEndpoint.post("end", "/internal/session/factor", { payload: EndSignIn, success: Session, error: writing })
    .annotate(Access, anybody).annotate(Audited, "session.sign_in_with_factor").annotate(SignsIn, true).annotate(
      ChecksCode,
      true
    ).annotate(ChecksPasskey, true).annotate(ChallengesFactor, true).annotate(NeedsMembership, true)
    .annotateMerge(OpenApi.annotations({
      summary: "End a sign-in with a second factor",
      description:
        "Sets the session's cookie. A challenge lasts 5 minutes and takes 5 proofs. Failures are limited per account and " +
        "per address."
    }))
).annotateMerge(
  OpenApi.annotations({
    title: "Second step of a sign-in (dashboard)",
    description: "End a sign-in with a code or a passkey."
  })
) {}

const read = { query: noQuery, error: reading }

/** A person's own second factor. */
export class FactorApi extends HttpApiGroup.make("factor").add(
  HttpApiEndpoint.get("get", "/internal/factor", { ...read, success: Factor })
    .annotate(Access, session("member")).annotate(ChecksSecret, true).annotateMerge(OpenApi.annotations({
      summary: "Get your second factor",
      description: "404 if you have no password at this service."
    })),
  HttpApiEndpoint.put("start", "/internal/factor", { ...read, success: FactorEnrolment })
    .annotate(Access, session("member")).annotate(Audited, null).annotate(NeedsFreshSession, true)
    .annotate(ChecksSecret, true).annotateMerge(OpenApi.annotations({
      summary: "Set up a second factor",
      description:
        "Makes a secret for an authenticator app, in place of one that was not confirmed. 400 if you have an app, " +
        "404 if you have no password at this service."
    })),
  HttpApiEndpoint.post("confirm", "/internal/factor/confirm", {
    payload: ConfirmFactor,
    success: RecoveryCodes,
    error: writing
  }).annotate(Access, session("member")).annotate(Audited, "factor.enable").annotate(NeedsFreshSession, true)
    .annotate(ChecksSecret, true).annotate(ChecksCode, true).annotateMerge(OpenApi.annotations({
      summary: "Switch your second factor on",
      description:
        "With the first code of the app. From then on each sign-in needs a code or a passkey. No recovery codes if you " +
        "have some, because a passkey had switched the second factor on. Wrong codes are limited per session."
    })),
  HttpApiEndpoint.put("renewRecoveryCodes", "/internal/factor/recovery-codes", { ...read, success: RecoveryCodes })
    .annotate(Access, session("member")).annotate(Audited, "factor.renew_recovery_codes")
    .annotate(NeedsFreshSession, true).annotate(ChecksSecret, true).annotateMerge(OpenApi.annotations({
      summary: "Get new recovery codes",
      description: "They replace all earlier codes, which become invalid. 404 if the second factor is not on."
    })),
  HttpApiEndpoint.delete("remove", "/internal/factor", { ...read, success: HttpApiSchema.NoContent })
    .annotate(Access, session("member")).annotate(Audited, "factor.disable").annotate(NeedsFreshSession, true)
    .annotate(ChecksSecret, true).annotateMerge(OpenApi.annotations({
      summary: "Switch your second factor off",
      description: "Also removes your passkeys and your recovery codes. 404 if it is not on."
    }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Second factor (dashboard)",
    description: "What your sign-ins need besides the password: codes of an authenticator app, or passkeys."
  })
) {}
