/**
 * The layout around every page: the navigation, the signed-in person, and a banner for a webhook that needs attention.
 */
import { Dialog } from "@base-ui/react/dialog"
import { Link, Outlet, useRouterState } from "@tanstack/react-router"
import { useEffect, useId, useState } from "react"
import { portal, root, version } from "../session/Document.ts"
import { roleInWords } from "../session/RoleWords.ts"
import { useSession, useSignOut } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { isAsking } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Icon } from "../ui/Icon.tsx"
import { t } from "../ui/Language.ts"
import { Empty, Skeleton } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { WebhookBanner } from "../webhooks/WebhookBanner.tsx"
import { CommandDialog } from "./CommandDialog.tsx"
import { reportHeight } from "./FrameHeight.ts"
import { renew, useIsMissing, useIsReplaced } from "./LazyPart.ts"
import { places } from "./Places.ts"
import { hostTheme } from "./PortalTheme.ts"
import { chooseTheme, currentTheme, isChosenHere, type Theme } from "./Theme.ts"

const navLink =
  "flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-muted hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"

const Navigation = ({ onGo }: { readonly onGo?: () => void }) => (
  <nav aria-label={t("Pages")} className="space-y-4">
    {places.map((group) => (
      <div key={group.name}>
        {group.name === "" ? null : <p className="px-2.5 pb-1 text-xs font-medium text-muted">{group.name}</p>}
        <ul className="space-y-0.5">
          {group.places.map(({ icon, name, to }) => (
            <li key={to}>
              <Link
                to={to}
                className={navLink}
                activeOptions={{ exact: to === "/", includeSearch: false }}
                onClick={onGo}
              >
                <Icon name={icon} />
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    ))}
  </nav>
)

const themes = (): ReadonlyArray<readonly [Theme, string]> => [
  ["system", t("As the system")],
  ["light", t("Light")],
  ["dark", t("Dark")]
]

/** A button with the workspace and the signed-in person, which opens their choices. */
const Account = () => {
  const { email, role, workspaceName } = useSession()
  const signOut = useSignOut()
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const [theme, setTheme] = useState(currentTheme)
  return (
    <div className="rounded-md border border-line">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full min-w-0 items-center gap-2.5 rounded-md px-2.5 py-1.5 text-left hover:bg-sunken"
      >
        <Icon name="person" className="text-muted" />
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{workspaceName}</span>
          <span className="block truncate text-[13px] text-muted">{email}</span>
        </span>
        <Icon name="chevron" className={`text-muted ${isOpen ? "rotate-90" : ""}`} />
      </button>
      {isOpen
        ? (
          <div id={id} className="space-y-2 border-t border-line p-2.5">
            <p className="text-[13px] text-muted">{t("Your role: {role}", { role: roleInWords(role) })}</p>
            {isChosenHere
              ? (
                <label className="block">
                  <span className="mb-1 block text-[13px] text-muted">{t("Appearance")}</span>
                  <select
                    className="field"
                    value={theme}
                    onChange={(event) => {
                      const chosen = themes().find(([value]) => value === event.target.value)?.[0] ?? "system"
                      chooseTheme(chosen)
                      setTheme(chosen)
                    }}
                  >
                    {themes().map(([value, name]) => <option key={value} value={value}>{name}</option>)}
                  </select>
                </label>
              )
              : null}
            {portal === undefined
              ? (
                <>
                  {signOut.isError
                    ? (
                      <>
                        <Failure error={signOut.error} />
                        <p className="text-[13px]">You may still be signed in. Sign out again.</p>
                      </>
                    )
                    : null}
                  <Button className="w-full" isPending={signOut.isPending} onClick={() => signOut.mutate()}>
                    Sign out
                  </Button>
                </>
              )
              : null}
          </div>
        )
        : null}
    </div>
  )
}

const Brand = () => {
  const { workspaceName } = useSession()
  return (
    <Link to="/" className="flex min-w-0 items-center gap-2 text-base font-semibold tracking-tight">
      {hostTheme.logo === undefined
        ? (
          <>
            <img src={`${root}favicon.svg`} alt="" className="size-6" />
            wac
          </>
        )
        : (
          <img
            src={hostTheme.logo}
            alt={workspaceName}
            referrerPolicy="no-referrer"
            className="h-8 max-w-44 object-contain object-left"
          />
        )}
    </Link>
  )
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** Whether there is a command menu; the portal has too few pages for one. */
const hasSearch = portal === undefined

const SearchButton = ({ onOpen }: { readonly onOpen: () => void }) =>
  hasSearch ? <SearchOpener onOpen={onOpen} /> : null

const SearchOpener = ({ onOpen }: { readonly onOpen: () => void }) => (
  <button
    type="button"
    onClick={onOpen}
    className="flex min-h-9 w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-muted hover:bg-sunken"
  >
    <Icon name="search" />
    <span className="flex-1 text-left">Go to…</span>
    <kbd className="hidden font-sans text-xs sm:inline">{isMac ? "⌘" : "Ctrl"} K</kbd>
  </button>
)

/** The links to the documentation; the portal, which may be in a frame, has none. */
const Links = () => portal === undefined ? <DocumentationLinks /> : null

const DocumentationLinks = () => (
  <p className="flex flex-wrap gap-x-3 px-2.5 text-[13px] text-muted">
    <a className="underline" href={`${root}docs`}>API documentation</a>
    <a className="underline" href={`${root}docs/errors`}>Errors</a>
    {version === undefined ? null : <span>{version}</span>}
  </p>
)

const NotLoaded = () => {
  const isReplaced = useIsReplaced()
  useEffect(() => {
    if (isReplaced) renew()
  }, [isReplaced])
  return (
    <Page title={t("Not loaded")}>
      <div className="card" role="status">
        <Empty
          title={t("This page could not be loaded")}
          actions={<Button onClick={() => location.reload()}>{t("Reload")}</Button>}
        >
          {isReplaced
            ? t("The service has another version of the dashboard: reload it.")
            : t("The service may be restarting. The page comes by itself once the service has it.")}{" "}
          {t("What you have filled in is kept until you reload: Back leads to it.")}
        </Empty>
      </div>
    </Page>
  )
}

/** How long the previous page stays visible while the next one loads, in milliseconds. */
const patience = 1000

/**
 * The current page. While the next one loads, the previous page stays mounted: visible at first, then hidden behind a
 * placeholder or a notice.
 */
const Content = () => {
  const isLoading = useRouterState({ select: ({ isLoading }) => isLoading })
  const isMissing = useIsMissing() && isLoading
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (!isLoading) return
    const timer = setTimeout(() => setLate(true), patience)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [isLoading])
  return (
    <>
      {isMissing ? <NotLoaded /> : isLate ? <Skeleton lines={6} /> : null}
      <div hidden={isMissing || isLate}>
        <Outlet />
      </div>
    </>
  )
}

export const Shell = () => {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isSearching, setSearching] = useState(false)
  useEffect(() => {
    if (!hasSearch) return
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault()
        if (!isAsking()) setSearching(true)
      }
    }
    document.addEventListener("keydown", onKey)
    return () => document.removeEventListener("keydown", onKey)
  }, [])
  return (
    <div className="md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-surface focus:px-3 focus:py-2 focus:shadow-lg"
        onClick={(event) => {
          event.preventDefault()
          document.querySelector<HTMLElement>("#content")?.focus()
        }}
      >
        {t("Skip to content")}
      </a>
      <header className="flex items-center justify-between gap-3 border-b border-line bg-surface px-4 py-2 md:hidden">
        <Brand />
        <Dialog.Root open={isMenuOpen} onOpenChange={setMenuOpen}>
          <Dialog.Trigger aria-label={t("Menu")} className="rounded-md p-2 hover:bg-sunken">
            <Icon name="menu" className="size-5" />
          </Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Backdrop className="fixed inset-0 z-30 animate-appear bg-scrim" />
            <Dialog.Popup className="fixed inset-y-0 left-0 z-30 flex w-72 max-w-[85vw] animate-appear flex-col gap-4 overflow-y-auto bg-surface p-3 shadow-xl">
              <Dialog.Title className="sr-only">{t("Menu")}</Dialog.Title>
              <SearchButton
                onOpen={() => {
                  setMenuOpen(false)
                  setSearching(true)
                }}
              />
              <Navigation onGo={() => setMenuOpen(false)} />
              <div className="mt-auto space-y-2">
                <Account />
                <Links />
                <Dialog.Close className="w-full rounded-md px-2.5 py-1.5 text-left text-muted hover:bg-sunken">
                  {t("Close menu")}
                </Dialog.Close>
              </div>
            </Dialog.Popup>
          </Dialog.Portal>
        </Dialog.Root>
      </header>
      <aside className="sticky top-0 hidden h-dvh flex-col gap-4 border-r border-line bg-surface p-3 md:flex">
        <div className="px-2.5 pt-1">
          <Brand />
        </div>
        <SearchButton onOpen={() => setSearching(true)} />
        <div className="-mx-3 min-h-0 flex-1 overflow-y-auto px-3">
          <Navigation />
        </div>
        <div className="max-h-2/3 shrink-0 space-y-2 overflow-y-auto">
          <Account />
          <Links />
        </div>
      </aside>
      <div ref={reportHeight} className="min-w-0 self-start">
        <WebhookBanner />
        <main id="content" tabIndex={-1} className="mx-auto max-w-6xl px-4 py-6 sm:px-8 sm:py-8">
          <Content />
        </main>
      </div>
      {isSearching ? <CommandDialog onClose={() => setSearching(false)} /> : null}
    </div>
  )
}
