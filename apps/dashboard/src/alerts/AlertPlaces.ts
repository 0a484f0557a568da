/** The page on which a person can do something about an alert. */
import type { Alert, AlertKind } from "@wac/client/internal"
import { kindOf } from "../ui/Things.tsx"

const places = {
  campaign_paused: { to: "/campaigns" },
  events_exhausted: { to: "/deliveries", search: { status: "exhausted" } },
  key_expires_in_1_day: { to: "/api-keys" },
  key_expires_in_30_days: { to: "/api-keys" },
  key_expires_in_7_days: { to: "/api-keys" },
  number_blocked: { to: "/phone-numbers" },
  number_low_quality: { to: "/phone-numbers" },
  queue_late: { to: "/messages", search: { status: "queued" } },
  quota_high: { to: "/usage" },
  quota_used_up: { to: "/usage" },
  subscription_behind: { to: "/alerts" },
  subscription_failed: { to: "/alerts" },
  template_paused: { to: "/templates" },
  webhook_failing: { to: "/settings/webhook" },
  webhook_paused: { to: "/settings/webhook" },
  webhook_pausing: { to: "/settings/webhook" }
} as const satisfies Record<AlertKind, { readonly to: string; readonly search?: Readonly<Record<string, string>> }>

/** The address of the page of the alert's subject or, if it has none, of the page for alerts of this kind. Pure. */
export const placeOf = ({ kind, subject }: Pick<Alert, "kind" | "subject">) => {
  const place = places[kind]
  const thing = kindOf(subject)
  // a subject can be a name that begins with a prefix of ids
  return thing?.to === `${place.to}/$id` ? { to: thing.to, params: { id: subject } } : place
}
