/** Which address shows which page; each page is loaded when it is first needed. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Link,
  redirect
} from "@tanstack/react-router"
import { pages, portal } from "../session/Service.ts"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Empty, Skeleton } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { isInPortal, portalHome } from "./Places.ts"
import { Shell } from "./Shell.tsx"

const Missing = () => (
  <Page title="Not found">
    <div className="card">
      <Empty
        title="There is no page at this address"
        actions={<Link to="/" className={buttonClass()}>Overview</Link>}
      />
    </div>
  </Page>
)

const Broken = ({ reset }: ErrorComponentProps) => (
  <Page title="Not loaded">
    <div className="card">
      <Empty
        title="This page could not be loaded"
        actions={
          <span className="flex gap-2">
            <Button onClick={() => location.reload()}>Reload</Button>
            <Button onClick={reset}>Try again</Button>
          </span>
        }
      >
        The service may be out of reach, or a new version of it was installed since you opened the dashboard.
      </Empty>
    </div>
  </Page>
)

const root = createRootRoute({
  component: Shell,
  notFoundComponent: Missing,
  beforeLoad: ({ location: { pathname } }) => {
    // nothing else is open to the session of the portal
    if (portal !== undefined && !isInPortal(pathname)) throw redirect({ to: portalHome, replace: true })
  }
})

const text = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

/** The parameters of an address that are there; the rest are left out. */
const given = <Name extends string>(search: Record<string, unknown>, ...names: ReadonlyArray<Name>) =>
  Object.fromEntries(
    names.flatMap((name) => text(search[name]) === undefined ? [] : [[name, text(search[name])]])
  ) as { readonly [N in Name]?: string }

const tree = root.addChildren([
  createRoute({
    getParentRoute: () => root,
    path: "/",
    component: lazyRouteComponent(() => import("../overview/OverviewPage.tsx"), "OverviewPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/start",
    component: lazyRouteComponent(() => import("../start/StartPage.tsx"), "StartPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/api-keys",
    validateSearch: (search) => given(search, "dialog"),
    component: lazyRouteComponent(() => import("../keys/KeysPage.tsx"), "KeysPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/api-keys/$id",
    component: lazyRouteComponent(() => import("../keys/KeyPage.tsx"), "KeyPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/webhook",
    validateSearch: (search) => given(search, "dialog"),
    component: lazyRouteComponent(() => import("../webhooks/WebhookPage.tsx"), "WebhookPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/messages",
    validateSearch: (search) => given(search, "status", "to", "reference", "provider", "since", "cursor"),
    component: lazyRouteComponent(() => import("../messages/MessagesPage.tsx"), "MessagesPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/messages/new",
    validateSearch: (search) => given(search, "to"),
    component: lazyRouteComponent(() => import("../messages/SendPage.tsx"), "SendPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/messages/$id",
    component: lazyRouteComponent(() => import("../messages/MessagePage.tsx"), "MessagePage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/campaigns",
    validateSearch: (search) => given(search, "cursor"),
    component: lazyRouteComponent(() => import("../campaigns/CampaignsPage.tsx"), "CampaignsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/campaigns/new",
    component: lazyRouteComponent(() => import("../campaigns/NewCampaignPage.tsx"), "NewCampaignPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/campaigns/$id/edit",
    component: lazyRouteComponent(() => import("../campaigns/NewCampaignPage.tsx"), "EditCampaignPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/campaigns/$id",
    validateSearch: (search) => given(search, "outcome", "reason", "cursor"),
    component: lazyRouteComponent(() => import("../campaigns/CampaignPage.tsx"), "CampaignPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/events",
    validateSearch: (search) => given(search, "type", "since", "message", "cursor"),
    component: lazyRouteComponent(() => import("../events/EventsPage.tsx"), "EventsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/events/$id",
    component: lazyRouteComponent(() => import("../events/EventPage.tsx"), "EventPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/deliveries",
    validateSearch: (search) => given(search, "status", "type", "outcome", "code", "message", "since", "cursor"),
    component: lazyRouteComponent(() => import("../webhooks/DeliveriesPage.tsx"), "DeliveriesPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/deliveries/$id",
    component: lazyRouteComponent(() => import("../webhooks/DeliveryPage.tsx"), "DeliveryPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/members",
    validateSearch: (search) => given(search, "dialog"),
    component: lazyRouteComponent(() => import("../people/MembersPage.tsx"), "MembersPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/opt-out",
    component: lazyRouteComponent(() => import("../contacts/OptOutWordsPage.tsx"), "OptOutWordsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings/audit",
    validateSearch: (search) => given(search, "target", "person", "cursor"),
    component: lazyRouteComponent(() => import("../people/AuditPage.tsx"), "AuditPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/account",
    component: lazyRouteComponent(() => import("../people/AccountPage.tsx"), "AccountPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/alerts",
    validateSearch: (search) => given(search, "open", "cursor"),
    component: lazyRouteComponent(() => import("../alerts/AlertsPage.tsx"), "AlertsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/requests",
    validateSearch: (search) => given(search, "refused", "reason", "cursor"),
    component: lazyRouteComponent(() => import("../requests/RequestsPage.tsx"), "RequestsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/usage",
    component: lazyRouteComponent(() => import("../usage/UsagePage.tsx"), "UsagePage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/templates",
    validateSearch: (search) => given(search, "status", "name", "cursor"),
    component: lazyRouteComponent(() => import("../templates/TemplatesPage.tsx"), "TemplatesPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/contacts",
    validateSearch: (search) => given(search, "phoneNumberId", "number", "cursor"),
    component: lazyRouteComponent(() => import("../contacts/ContactsPage.tsx"), "ContactsPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/contacts/$id",
    component: lazyRouteComponent(() => import("../contacts/ContactPage.tsx"), "ContactPage")
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/phone-numbers",
    component: lazyRouteComponent(() => import("../numbers/PhoneNumbersPage.tsx"), "PhoneNumbersPage")
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
  scrollRestoration: true
})

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: typeof router
  }
}
