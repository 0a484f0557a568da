/** Every page that the menus lead to. */
import type { IconName } from "../ui/Icon.tsx"

interface Place {
  readonly to: string
  readonly name: string
  readonly icon: IconName
}

/** In groups, as the side shows them. */
export const places = [
  {
    name: "",
    places: [
      { to: "/", name: "Overview", icon: "home" },
      { to: "/alerts", name: "Alerts", icon: "bell" },
      { to: "/start", name: "Get started", icon: "start" }
    ]
  },
  {
    name: "Activity",
    places: [
      { to: "/messages", name: "Messages", icon: "message" },
      { to: "/events", name: "Events", icon: "event" },
      { to: "/deliveries", name: "Deliveries", icon: "delivery" },
      { to: "/requests", name: "Requests", icon: "list" },
      { to: "/usage", name: "Usage", icon: "usage" }
    ]
  },
  {
    name: "Catalogue",
    places: [
      { to: "/templates", name: "Templates", icon: "template" },
      { to: "/contacts", name: "Contacts", icon: "contact" },
      { to: "/phone-numbers", name: "Phone numbers", icon: "phone" }
    ]
  },
  {
    name: "Settings",
    places: [
      { to: "/api-keys", name: "API keys", icon: "key" },
      { to: "/settings/webhook", name: "Webhooks", icon: "webhook" },
      { to: "/settings/members", name: "Members", icon: "members" },
      { to: "/settings/audit", name: "Audit", icon: "shield" },
      { to: "/account", name: "Your account", icon: "person" }
    ]
  }
] as const satisfies ReadonlyArray<{ readonly name: string; readonly places: ReadonlyArray<Place> }>
