/** Where something can be done about an alert. */
import type { AlertKind } from "@wac/client/internal"

export const alertPlaces = {
  campaign_paused: { to: "/campaigns" },
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
