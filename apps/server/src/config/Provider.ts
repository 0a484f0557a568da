/**
 * The provider of the first number: the sandbox, or WhatsApp with its credentials.
 */
import { Effect, Redacted, Schema } from "effect"
import { BearerToken, needed, read, VisibleAscii, WebAddress } from "./Reading.ts"

const GraphId = Schema.String.check(Schema.isPattern(/^[0-9]{1,32}$/))

/** Meta's address and API version; a version is supported for about two years. */
const whatsAppDefaults = { baseUrl: new URL("https://graph.facebook.com"), apiVersion: "v26.0" }

const whatsApp = Effect.gen(function*() {
  const required = needed("PROVIDER=whatsapp")
  const accessToken = yield* required("WHATSAPP_ACCESS_TOKEN", BearerToken, "an access token of the app's system user")
  const appSecret = yield* required("WHATSAPP_APP_SECRET", VisibleAscii, "the app's secret, which signs its webhooks")
  const verifyToken = yield* required(
    "WHATSAPP_VERIFY_TOKEN",
    VisibleAscii,
    "the verify token entered at Meta with the address"
  )
  return {
    _tag: "WhatsApp" as const,
    baseUrl: (yield* read("WHATSAPP_BASE_URL", WebAddress, "an http or https URL", whatsAppDefaults.baseUrl)).href,
    apiVersion: yield* read(
      "WHATSAPP_API_VERSION",
      Schema.String.check(Schema.isPattern(/^v[0-9]{1,3}\.[0-9]{1,2}$/)),
      "a version such as v26.0",
      whatsAppDefaults.apiVersion
    ),
    accessToken: Redacted.make(accessToken),
    phoneNumberId: yield* required("WHATSAPP_PHONE_NUMBER_ID", GraphId, "the id of a phone number, digits only"),
    businessAccountId: yield* required(
      "WHATSAPP_BUSINESS_ACCOUNT_ID",
      GraphId,
      "the id of the WhatsApp Business Account, digits only"
    ),
    appSecret: Redacted.make(appSecret),
    verifyToken: Redacted.make(verifyToken)
  }
})

/** The provider (contract §8 `PROVIDER`). */
export const provider = Effect.gen(function*() {
  const name = yield* read("PROVIDER", Schema.Literals(["sandbox", "whatsapp"]), "sandbox or whatsapp", "sandbox")
  return name === "sandbox" ? { _tag: "Sandbox" as const } : yield* whatsApp
})
