/** The templates of the simulated Cloud API: their shape, the initial ones, and the pages of their list. */
import { Schema } from "effect"

const Component = Schema.Struct({
  type: Schema.String,
  format: Schema.optionalKey(Schema.String),
  text: Schema.optionalKey(Schema.String),
  buttons: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
  example: Schema.optionalKey(Schema.Json),
  cards: Schema.optionalKey(Schema.Array(Schema.Json)),
  limited_time_offer: Schema.optionalKey(Schema.Json),
  add_security_recommendation: Schema.optionalKey(Schema.Boolean),
  code_expiration_minutes: Schema.optionalKey(Schema.Int)
})
export type Component = typeof Component.Type

/** A template as upstream lists it. */
export const Template = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  language: Schema.String,
  status: Schema.String,
  category: Schema.String,
  parameter_format: Schema.Literals(["POSITIONAL", "NAMED"]),
  components: Schema.Array(Component),
  quality_score: Schema.Struct({ score: Schema.String, date: Schema.Int }),
  rejected_reason: Schema.String
})
export type Template = typeof Template.Type

const body = (text: string): Component => ({ type: "BODY", text })

const made = (
  name: string,
  category: string,
  components: ReadonlyArray<Component>,
  rest: Partial<Pick<Template, "language" | "status" | "parameter_format" | "rejected_reason">> = {}
): Omit<Template, "id"> => ({
  name,
  language: "en_US",
  status: "APPROVED",
  category,
  parameter_format: "POSITIONAL",
  components,
  quality_score: { score: "UNKNOWN", date: 1_760_000_000 },
  rejected_reason: "NONE",
  ...rest
})

/** The number of additional plain templates, so that the list has more than one page. */
const plain = 20

/**
 * The templates that an account has at first: every kind of template that changes how one is sent, on more than one
 * page.
 */
export const initial: ReadonlyArray<Template> = [
  made("hello_world", "UTILITY", [
    { type: "HEADER", format: "TEXT", text: "Hello World" },
    body("Welcome and congratulations!"),
    { type: "FOOTER", text: "WhatsApp Business Platform sample message" }
  ]),
  made("hello_world", "UTILITY", [body("Willkommen – schön, dass du da bist!")], { language: "de" }),
  made("order_update", "UTILITY", [body("Hi {{1}}, your order {{2}} is on its way.")]),
  made("order_update", "UTILITY", [body("Olá {{1}}, o pedido {{2}} está a caminho. 📦")], { language: "pt_BR" }),
  made("promo", "MARKETING", [body("{{1}} off, today only.")]),
  made("appointment_reminder", "UTILITY", [body("Hi {{first_name}}, see you on {{day}} at {{hour}}.")], {
    parameter_format: "NAMED"
  }),
  made("named_header", "UTILITY", [
    { type: "HEADER", format: "TEXT", text: "Order {{order_id}}" },
    body("Hi {{first_name}}, it is ready.")
  ], { parameter_format: "NAMED" }),
  made("picture_offer", "MARKETING", [{ type: "HEADER", format: "IMAGE" }, body("New for {{1}}.")]),
  made("track_parcel", "UTILITY", [
    body("Your parcel {{1}} is on its way."),
    { type: "BUTTONS", buttons: [{ type: "URL", text: "Track", url: "https://shop.example/track/{{1}}" }] }
  ]),
  made("confirm_visit", "UTILITY", [
    body("Will you come on {{1}}?"),
    { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "Yes" }, { type: "QUICK_REPLY", text: "No" }] }
  ]),
  made("login_code", "AUTHENTICATION", [
    body("{{1}} is your code."),
    {
      type: "BUTTONS",
      // created as OTP, and listed so: developers.facebook.com/docs/whatsapp/business-management-api/authentication-templates/copy-code-button-authentication-templates
      buttons: [{
        type: "URL",
        text: "Copy code",
        url: "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}"
      }]
    }
  ]),
  made("pending_review", "UTILITY", [body("Hi {{1}}.")], { status: "PENDING" }),
  made("rejected_offer", "MARKETING", [body("Buy! Buy!")], { status: "REJECTED", rejected_reason: "PROMOTIONAL" }),
  made("paused_offer", "MARKETING", [body("Once more.")], { status: "PAUSED" }),
  made("disabled_offer", "MARKETING", [body("And again.")], { status: "DISABLED" }),
  ...Array.from(
    { length: plain },
    (_, i) => made(`notice_${String(i + 1).padStart(2, "0")}`, "UTILITY", [body("A notice to {{1}}.")])
  ),
  made("book_visit", "UTILITY", [
    body("Hi {{1}}, book a visit."),
    {
      type: "BUTTONS",
      buttons: [{ type: "FLOW", text: "Book", flow_id: 1, flow_action: "NAVIGATE", navigate_screen: "START" }]
    }
  ]),
  made("see_catalog", "MARKETING", [
    body("New for {{1}}."),
    { type: "BUTTONS", buttons: [{ type: "CATALOG", text: "View catalog" }] }
  ])
].map((template, i) => ({ id: String(1_689_556_908_000_000 + i), ...template }))

/** The id and these fields of a template; all fields if none are requested. */
export const shown = (template: Template, fields: ReadonlyArray<string> | undefined): Schema.JsonObject =>
  fields === undefined
    ? template
    : Object.fromEntries(Object.entries(template).filter(([name]) => name === "id" || fields.includes(name)))

/** Source: github.com/chatwoot/chatwoot/issues/6651. */
const defaultPage = 25
const longestPage = 1000

/** One page of the list, with cursors and, unless it is the last, the next page's address; only `fields` are shown. */
export const page = (
  templates: ReadonlyArray<Template>,
  query: URLSearchParams,
  address: string
): Schema.JsonObject => {
  const asked = Number(query.get("limit") ?? defaultPage)
  const limit = Number.isInteger(asked) && asked > 0 ? Math.min(asked, longestPage) : defaultPage
  const wanted = templates.filter((template) =>
    (["name", "language", "status", "category"] as const).every((field) => {
      const value = query.get(field)
      return value === null || template[field] === value
    })
  )
  const after = query.get("after")
  const start = after === null ? 0 : Number(Buffer.from(after, "base64url").toString("latin1"))
  const listed = wanted.slice(start, start + limit)
  const cursor = (index: number) => Buffer.from(String(index)).toString("base64url")
  const fields = query.get("fields")?.split(",")
  const next = new URL(address)
  for (const [name, value] of query) next.searchParams.set(name, value)
  next.searchParams.set("after", cursor(start + limit))
  return {
    data: listed.map((template) => shown(template, fields)),
    ...(listed.length === 0 ? {} : {
      paging: {
        cursors: { before: cursor(start), after: cursor(start + listed.length) },
        ...(start + limit < wanted.length ? { next: next.href } : {})
      }
    })
  }
}
