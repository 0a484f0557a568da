/** The business phone numbers of the simulated Cloud API: their fields, and what a lookup returns of them. */
import { Schema, Struct } from "effect"

/** A number with upstream's fields, and one of the simulation (`refuses`). */
export const BusinessNumber = Schema.Struct({
  id: Schema.String,
  display_phone_number: Schema.String,
  verified_name: Schema.String,
  quality_rating: Schema.String,
  /** `CONNECTED`, `FLAGGED`, `RESTRICTED`, `BANNED`, … */
  status: Schema.String,
  name_status: Schema.String,
  code_verification_status: Schema.String,
  platform_type: Schema.String,
  throughput: Schema.Struct({ level: Schema.String }),
  whatsapp_business_manager_messaging_limit: Schema.String,
  health_status: Schema.Struct({ can_send_message: Schema.String, entities: Schema.Array(Schema.Json) }),
  /** The code with which every send is refused, such as 133010 for an unregistered number; null if none is refused. */
  refuses: Schema.NullOr(Schema.Int)
})
export type BusinessNumber = typeof BusinessNumber.Type

/** A change of some fields of a number. */
export const Patch = BusinessNumber.mapFields(Struct.omit(["id"])).mapFields(Struct.map(Schema.optionalKey))
export type Patch = typeof Patch.Type

export const make = (id: string, displayPhoneNumber: string): BusinessNumber => ({
  id,
  display_phone_number: displayPhoneNumber,
  verified_name: "Simulated Shop",
  quality_rating: "GREEN",
  status: "CONNECTED",
  name_status: "APPROVED",
  code_verification_status: "VERIFIED",
  platform_type: "CLOUD_API",
  throughput: { level: "STANDARD" },
  whatsapp_business_manager_messaging_limit: "TIER_UNLIMITED",
  health_status: { can_send_message: "AVAILABLE", entities: [] },
  refuses: null
})

/** The fields of a number that are returned if none are requested. */
const usual = [
  "verified_name",
  "code_verification_status",
  "display_phone_number",
  "quality_rating",
  "platform_type",
  "throughput"
]

/** The id and these fields of a number (`shown`), or the name of the first field that does not exist (`unknown`). */
export const show = (
  number: BusinessNumber,
  fields: ReadonlyArray<string> = usual
): { readonly shown: Schema.JsonObject } | { readonly unknown: string } => {
  const { refuses: _, ...visible } = number
  const unknown = fields.find((field) => !(field in visible))
  return unknown === undefined
    ? {
      shown: Object.fromEntries(
        Object.entries(visible).filter(([name]) => name === "id" || fields.includes(name))
      )
    }
    : { unknown }
}

/** The code with which sends are refused while the throughput of their number is raised. */
export const upgrading = 131057

/** Messages in a second at each level of throughput. */
export const perSecond = (number: BusinessNumber): number => number.throughput.level === "HIGH" ? 1000 : 80

/** How many customers may be written to outside a window in 24 hours, by the tier of a number; null: unlimited. */
export const messagingLimit = ({ whatsapp_business_manager_messaging_limit: tier }: BusinessNumber): number | null => {
  const [, count, thousands] = /^TIER_(\d+)(K?)$/.exec(tier) ?? []
  return count === undefined ? null : Number(count) * (thousands === "K" ? 1000 : 1)
}
