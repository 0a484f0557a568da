/**
 * The session: who is signed in, what their role may do, and what is shown without a session or after its end.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { Role, Session } from "@wac/client/internal"
import { createContext, type ReactNode, Suspense, useCallback, useContext, useEffect, useMemo, useState } from "react"
import { roles } from "../generated/Names.ts"
import { lazyPart } from "../shell/LazyPart.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { t } from "../ui/Language.ts"
import { Skeleton } from "../ui/Loaded.tsx"
import { follow } from "./Changes.ts"
import { pages, portal } from "./Document.ts"
import { isSpentLink, openPortal, PortalEnded } from "./Portal.tsx"
import { PresenceDialog } from "./PresenceDialog.tsx"
import { live } from "./Refetching.ts"
import { roleInWords } from "./RoleWords.ts"
import { api, isSignedOut, signOutOf } from "./Service.ts"
import { noteSignIn, useHasEnded } from "./SessionEnd.ts"
import { isOther, show, shownSession } from "./ShownSession.ts"
import { SignInAgain, SignInPage } from "./SignIn.tsx"

// few people need these pages, and each only once
const InvitationPage = lazyPart(() => import("./InvitationPage.tsx"), "InvitationPage")
const SetUpPage = lazyPart(() => import("./SetUpPage.tsx"), "SetUpPage")
const PasswordResetPage = lazyPart(() => import("./PasswordReset.tsx"), "PasswordResetPage")
const LostPassword = lazyPart(() => import("./PasswordReset.tsx"), "LostPassword")

const key = ["session"]

const Current = createContext<Session | undefined>(undefined)

/** The session, which every page behind the sign-in has. */
export const useSession = (): Session => {
  const session = useContext(Current)
  if (session === undefined) throw new Error("this page needs a session")
  return session
}

/** Why the person may not do what needs these roles (see `RoleOf`), as a sentence; `undefined` if they may. */
export const useRefusal = (...needed: ReadonlyArray<Role>): string | undefined => {
  const { role } = useSession()
  const [most] = [...needed].sort((one, other) => roles.indexOf(other) - roles.indexOf(one))
  return most === undefined || roles.indexOf(role) >= roles.indexOf(most)
    ? undefined
    : t("This needs the role {needed}; you are {role}. An admin of the workspace can change that.", {
      needed: roleInWords(most),
      role: roleInWords(role)
    })
}

const unlessRefused = <A extends Session | void>(call: Promise<A>): Promise<A | "refused"> =>
  call.catch((error: unknown) => {
    if (isSignedOut(error)) return "refused"
    throw error
  })

/** Signs out, and forgets all fetched data. If signing out fails, nothing changes. */
export const useSignOut = () => {
  const client = useQueryClient()
  const { userId } = useSession()
  return useMutation({
    mutationFn: async () => {
      if (await unlessRefused(api.session.signOut()) !== "refused") return
      // nobody is signed in, or another tab has opened another workspace or signed somebody else in
      const present = await unlessRefused(api.session.get())
      if (present === "refused" || present.userId !== userId) return
      await signOutOf(present)
    },
    onSuccess: () => {
      client.clear()
      location.assign(pages)
    }
  })
}

/** What is shown until it is known who is signed in, and while the code of a page without a session loads. */
const Outer = ({ children = <Skeleton /> }: { readonly children?: ReactNode }) => (
  <main className="mx-auto max-w-lg p-6">{children}</main>
)

/** The frame of a page without a session, whose code is loaded when it is first shown. */
const Lazy = ({ children }: { readonly children: ReactNode }) => <Suspense fallback={<Outer />}>{children}</Suspense>

/**
 * Shows its children to people who are signed in, and a page for signing in to all others. When the session ends, the
 * children stay, behind a dialog that asks the person to sign in again.
 */
export const SessionGate = ({ children }: { readonly children: ReactNode }) => {
  const client = useQueryClient()
  const over = useHasEnded()
  const page = useMemo(() => location.pathname.slice(pages.length), [])
  /** Whether the person has accepted the invitation of the link. */
  const [isIn, setIn] = useState(false)
  // the link may be for a different person than the one who is signed in
  const isOfLink = page === "/password-reset" || (page === "/invitation" && !isIn)
  const query = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      await openPortal()
      const next = await api.session.get({ signal })
      const before = shownSession()
      // a host may show one workspace's portal to several visitors in one browser
      if (before !== undefined && isOther(before, next) && !isOfLink && portal === undefined) {
        location.assign(pages)
        // what this page shows and what was filled in must not become the other session's until the page has gone
        return new Promise<never>(() => {})
      }
      show(next)
      // a call that was on its way while the cookie was replaced may have been refused
      noteSignIn()
      return next
    },
    ...live(30_000)
  })
  const { data: session } = query
  const began = useCallback((next: Session) => {
    const before = shownSession()
    // a different person, or workspace, must not see what was shown before
    if (before !== undefined && isOther(before, next)) {
      location.assign(pages)
      return
    }
    show(next)
    client.setQueryData(key, next)
    noteSignIn()
    void client.invalidateQueries()
  }, [client])
  const isLive = session !== undefined && !over
  // the portal may not see changes of the whole workspace, so its pages only refetch at intervals
  useEffect(() => isLive && portal === undefined ? follow(client) : undefined, [client, isLive])
  // a call is also refused if another tab has begun a session of another workspace or person
  const isEnded = session !== undefined && over
  useEffect(() => {
    if (isEnded) void client.invalidateQueries({ queryKey: key })
  }, [client, isEnded])

  if (page === "/password-reset") {
    return (
      <Lazy>
        <PasswordResetPage />
      </Lazy>
    )
  }
  if (page === "/invitation" && !isIn) {
    return (
      <Lazy>
        <InvitationPage
          onDone={(session) => {
            setIn(true)
            began(session)
          }}
        />
      </Lazy>
    )
  }
  if (session === undefined) {
    if (portal !== undefined && (isSignedOut(query.error) || isSpentLink(query.error))) return <PortalEnded />
    if (page === "/setup") {
      return (
        <Lazy>
          <SetUpPage onDone={began} />
        </Lazy>
      )
    }
    if (isSignedOut(query.error)) {
      return (
        <SignInPage
          lostPassword={
            <Suspense>
              <LostPassword />
            </Suspense>
          }
          onDone={began}
        />
      )
    }
    if (query.error === null) return <Outer />
    return (
      <Outer>
        <Failure
          error={query.error}
          actions={<Button small onClick={() => void query.refetch()}>{t("Try again")}</Button>}
        />
      </Outer>
    )
  }
  return (
    <Current value={session}>
      {children}
      <PresenceDialog email={session.email} />
      {over ?
        (
          <Dialog
            title={t("Your session has ended")}
            isDismissible={false}
            onClose={() => {}}
            width="max-w-md"
          >
            {portal === undefined
              ? (
                <>
                  <p className="mb-4 text-muted">Sign in to continue. What you have filled in is still here.</p>
                  <SignInAgain email={session.email} onDone={began} />
                </>
              )
              : <p className="text-muted">{t("Reload the page in the application that embeds this view.")}</p>}
          </Dialog>
        ) :
        null}
    </Current>
  )
}
