/** The pages that the menus lead to, and which of them the portal and the provider's channel have. */
import { channel, portal } from "../session/Document.ts"
import type { IconName } from "../ui/Icon.tsx"
import { t } from "../ui/Language.ts"

interface Place {
  readonly to: string
  /** In the reader's language if the portal has the page, otherwise in English. */
  readonly name: string
  readonly icon: IconName
}

const all = [
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
      { to: "/campaigns", name: "Campaigns", icon: "campaign" },
      { to: "/events", name: "Events", icon: "event" },
      {
        to: "/deliveries",
        get name() {
          return t("Deliveries")
        },
        icon: "delivery"
      },
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
      {
        to: "/api-keys",
        get name() {
          return t("API keys")
        },
        icon: "key"
      },
      {
        to: "/settings/webhook",
        get name() {
          return t("Webhooks")
        },
        icon: "webhook"
      },
      { to: "/settings/opt-out", name: "Opt-out words", icon: "contact" },
      { to: "/settings/members", name: "Members", icon: "members" },
      { to: "/settings/audit", name: "Audit", icon: "shield" },
      { to: "/account", name: "Your account", icon: "person" }
    ]
  }
] as const satisfies ReadonlyArray<{ readonly name: string; readonly places: ReadonlyArray<Place> }>

type Known = (typeof all)[number]["places"][number]

/** The pages of the portal. */
const ofPortal: ReadonlyArray<string> = ["/settings/webhook", "/deliveries", "/api-keys"] satisfies Array<Known["to"]>

/** The first page of the portal. */
export const portalHome = "/settings/webhook"

/** Whether the portal has the page at a path; the pages below a page of the portal belong to it. */
export const isInPortal = (path: string): boolean =>
  ofPortal.some((page) => path === page || path.startsWith(`${page}/`))

/** The pages that are empty on a channel without templates. */
const ofTemplates: ReadonlyArray<string> = ["/templates", "/campaigns"] satisfies Array<Known["to"]>

/** Whether the provider's channel supports what the page at a path is about. */
export const isOfChannel = (path: string): boolean =>
  channel.templates || !ofTemplates.some((page) => path === page || path.startsWith(`${page}/`))

/** The pages of this dashboard or portal, in the groups of the navigation. */
export const places: ReadonlyArray<{ readonly name: string; readonly places: ReadonlyArray<Known> }> =
  portal === undefined
    ? all.map(({ name, places }) => ({ name, places: places.filter(({ to }) => isOfChannel(to)) }))
    : [{
      name: "",
      places: all.flatMap(({ places }): ReadonlyArray<Known> => places).filter(({ to }) => isInPortal(to))
    }]
