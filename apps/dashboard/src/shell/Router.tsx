/** The routes of the pages: which address shows which page. The code of a page is loaded when it is first needed. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  redirect
} from "@tanstack/react-router"
import { pages, portal } from "../session/Document.ts"
import { Button, buttonClass } from "../ui/Button.tsx"
import { t } from "../ui/Language.ts"
import { Empty, Skeleton } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { lazyPart, loadAhead } from "./LazyPart.ts"
import { isInPortal, portalHome } from "./Places.ts"
import { Shell } from "./Shell.tsx"

const Missing = () => (
  <Page title={t("Not found")}>
    <div className="card">
      <Empty
        title={t("There is no page at this address")}
        actions={<Link to="/" className={buttonClass()}>{t("Overview")}</Link>}
      />
    </div>
  </Page>
)

const Broken = ({ reset }: ErrorComponentProps) => (
  <Page title={t("Something went wrong")}>
    <div className="card">
      <Empty
        title={t("This page cannot be shown")}
        actions={
          <span className="flex gap-2">
            <Button onClick={() => location.reload()}>{t("Reload")}</Button>
            <Button onClick={reset}>{t("Try again")}</Button>
          </span>
        }
      >
        {t("An error in the page prevents that. What happened is in the browser’s console.")}
      </Empty>
    </div>
  </Page>
)

const root = createRootRoute({
  component: Shell,
  notFoundComponent: Missing,
  beforeLoad: ({ location: { pathname } }) => {
    // the portal's session may open only the portal's pages
    if (portal !== undefined && !isInPortal(pathname)) throw redirect({ to: portalHome, replace: true })
  }
})

const text = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

/** The named parameters that an address has, as text; empty ones are left out. */
const given = <Name extends string>(search: Record<string, unknown>, ...names: ReadonlyArray<Name>) =>
  Object.fromEntries(
    names.flatMap((name) => text(search[name]) === undefined ? [] : [[name, text(search[name])]])
  ) as { readonly [N in Name]?: string }

/** The names of the parameters of a time range. */
const times = ["since", "begin", "end"] as const

const tree = root.addChildren([
  createRoute({
    getParentRoute: () => root,
    path: "/",
    validateSearch: (search) => given(search, ...times),
    component: lazyPart(() => import("../overview/OverviewPage.tsx"), "OverviewPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/start",
    component: lazyPart(() => import("../start/StartPage.tsx"), "StartPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/api-keys",
    validateSearch: (search) => given(search, "dialog", "cursor"),
    component: lazyPart(() => import("../keys/KeysPage.tsx"), "KeysPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/api-keys/$id",
    component: lazyPart(() => import("../keys/KeyPage.tsx"), "KeyPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/webhook",
    validateSearch: (search) => given(search, "dialog", ...times),
    component: lazyPart(() => import("../webhooks/WebhookPage.tsx"), "WebhookPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/messages",
    validateSearch: (search) => given(search, "status", "to", "typed", "reference", "provider", ...times, "cursor"),
    component: lazyPart(() => import("../messages/MessagesPage.tsx"), "MessagesPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/messages/new",
    validateSearch: (search) => given(search, "to", "from"),
    component: lazyPart(() => import("../messages/SendPage.tsx"), "SendPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/messages/$id",
    component: lazyPart(() => import("../messages/MessagePage.tsx"), "MessagePage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/campaigns",
    validateSearch: (search) => given(search, "status", "name", "cursor"),
    component: lazyPart(() => import("../campaigns/CampaignsPage.tsx"), "CampaignsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/campaigns/new",
    validateSearch: (search) => given(search, "like"),
    component: lazyPart(() => import("../campaigns/NewCampaignPage.tsx"), "NewCampaignPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/campaigns/$id/edit",
    component: lazyPart(() => import("../campaigns/NewCampaignPage.tsx"), "EditCampaignPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/campaigns/$id",
    validateSearch: (search) => given(search, "outcome", "reason", "period", "cursor"),
    component: lazyPart(() => import("../campaigns/CampaignPage.tsx"), "CampaignPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/events",
    validateSearch: (search) => given(search, "type", "message", ...times, "cursor"),
    component: lazyPart(() => import("../events/EventsPage.tsx"), "EventsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/events/$id",
    component: lazyPart(() => import("../events/EventPage.tsx"), "EventPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/deliveries",
    validateSearch: (search) => given(search, "status", "type", "outcome", "code", "message", ...times, "cursor"),
    component: lazyPart(() => import("../webhooks/DeliveriesPage.tsx"), "DeliveriesPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/deliveries/$id",
    component: lazyPart(() => import("../webhooks/DeliveryPage.tsx"), "DeliveryPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/members",
    validateSearch: (search) => given(search, "dialog"),
    component: lazyPart(() => import("../people/MembersPage.tsx"), "MembersPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/opt-out",
    component: lazyPart(() => import("../contacts/OptOutWordsPage.tsx"), "OptOutWordsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/audit",
    validateSearch: (search) => given(search, "target", "person", "cursor"),
    component: lazyPart(() => import("../people/AuditPage.tsx"), "AuditPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/account",
    component: lazyPart(() => import("../people/AccountPage.tsx"), "AccountPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/alerts",
    validateSearch: (search) => given(search, "open", "cursor"),
    component: lazyPart(() => import("../alerts/AlertsPage.tsx"), "AlertsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/requests",
    validateSearch: (search) => given(search, "refused", "reason", "key", "route", "status", ...times, "cursor"),
    component: lazyPart(() => import("../requests/RequestsPage.tsx"), "RequestsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/requests/$id",
    component: lazyPart(() => import("../requests/RequestPage.tsx"), "RequestPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/usage",
    validateSearch: (search) => given(search, ...times),
    component: lazyPart(() => import("../usage/UsagePage.tsx"), "UsagePage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/templates",
    validateSearch: (search) => given(search, "status", "name", "cursor"),
    component: lazyPart(() => import("../templates/TemplatesPage.tsx"), "TemplatesPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/templates/new",
    validateSearch: (search) => given(search, "like"),
    component: lazyPart(() => import("../templates/NewTemplatePage.tsx"), "NewTemplatePage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/templates/$id/edit",
    component: lazyPart(() => import("../templates/NewTemplatePage.tsx"), "EditTemplatePage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/templates/$id",
    component: lazyPart(() => import("../templates/TemplatePage.tsx"), "TemplatePage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/contacts",
    validateSearch: (search) => given(search, "phoneNumberId", "number", "cursor"),
    component: lazyPart(() => import("../contacts/ContactsPage.tsx"), "ContactsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/contacts/$id",
    component: lazyPart(() => import("../contacts/ContactPage.tsx"), "ContactPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/phone-numbers",
    component: lazyPart(() => import("../numbers/PhoneNumbersPage.tsx"), "PhoneNumbersPage")
  })
])

export const router = createRouter({
  routeTree: tree,
  basepath: pages,
  defaultErrorComponent: Broken,
  defaultPendingComponent: () => <Skeleton lines={6} />,
  // identifiers and numbers stay as they are, without quotes around what looks like a number
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const params = new URLSearchParams()
    for (const [name, value] of Object.entries(search)) if (value !== undefined) params.set(name, String(value))
    return params.size === 0 ? "" : `?${params}`
  },
  // the page of another thing is mounted again, so that it keeps no input or choice of the page before
  defaultRemountDeps: ({ params }) => params,
  scrollRestoration: true
})

// after the first page, the previous page stays until the next one is loaded (see Shell)
const first = router.subscribe("onResolved", () => {
  first()
  router.update({ ...router.options, defaultPendingMs: Infinity })
  loadAhead()
})

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: typeof router
  }
}
