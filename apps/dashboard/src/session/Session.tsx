/** Who is signed in, what their role may do, and what becomes of a page whose session ends. */
import { QueryCache, QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { Role, Session } from "@wac/client/internal"
import {
  createContext,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore
} from "react"
import { roles } from "../generated/Names.ts"
import { lazyPart } from "../shell/LazyPart.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { t } from "../ui/Language.ts"
import { Skeleton } from "../ui/Loaded.tsx"
import { follow, isFollowing } from "./Changes.ts"
import { pages, portal } from "./Document.ts"
import { openPortal, PortalEnded } from "./Portal.tsx"
import { PresenceDialog } from "./PresenceDialog.tsx"
import { roleInWords } from "./RoleWords.ts"
import { api, isNotFound, isSignedOut } from "./Service.ts"
import { SignInAgain, SignInPage } from "./SignIn.tsx"

// few need them, and only once
const InvitationPage = lazyPart(() => import("./InvitationPage.tsx"), "InvitationPage")
const SetUpPage = lazyPart(() => import("./SetUpPage.tsx"), "SetUpPage")
const PasswordResetPage = lazyPart(() => import("./PasswordReset.tsx"), "PasswordResetPage")
const LostPassword = lazyPart(() => import("./PasswordReset.tsx"), "LostPassword")

/** Whether the service said that the session is over, since it was last asked. */
let isOver = false
const listeners = new Set<() => void>()

const setOver = (value: boolean): void => {
  if (isOver === value) return
  isOver = value
  for (const listener of listeners) listener()
}

const note = (error: unknown): void => {
  if (isSignedOut(error)) setOver(true)
}

/** How often a page asks at most while the service reports changes, in milliseconds. */
const whileFollowing = 10_000

/**
 * How often an open page asks again, in milliseconds; less often while the service reports changes, and not while nobody
 * is signed in, nor for what the service says that there is not.
 */
export const live = (millis = 5000) => ({
  refetchInterval: (query: { readonly state: { readonly error: unknown } }) =>
    isOver || isNotFound(query.state.error) ? false : isFollowing() ? Math.max(millis, whileFollowing) : millis
})

/** How often a page asks whether there is now what there was not, while no changes are reported, in milliseconds. */
const forNothing = 60_000

/**
 * The same for a thing that may not be there (`null`). Browsers log each response 404 as an error, so a page then waits
 * for the service to report that it was made.
 */
export const liveIfAny = (millis?: number) => ({
  refetchInterval: (query: { readonly state: { readonly data: unknown; readonly error: unknown } }) =>
    query.state.data !== null ? live(millis).refetchInterval(query) : isOver || isFollowing() ? false : forNothing
})

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: note }),
  defaultOptions: {
    // the client repeats what may be repeated itself
    queries: { retry: false, staleTime: 2000 },
    mutations: { retry: false, onError: note }
  }
})

const key = ["session"]

const Current = createContext<Session | undefined>(undefined)

/** The session; every page behind the sign-in has one. */
export const useSession = (): Session => {
  const session = useContext(Current)
  if (session === undefined) throw new Error("this page needs a session")
  return session
}

/** Why the person's role may not do what needs these roles (`RoleOf`); `undefined` if it may. */
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

/** Signs out, and forgets all that was shown. If that fails, everything stays as it is. */
export const useSignOut = () => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () =>
      api.session.signOut().catch((error: unknown) => {
        if (!isSignedOut(error)) throw error
      }),
    onSuccess: () => {
      client.clear()
      location.assign(pages)
    }
  })
}

/** The content before it is known who is signed in, and while a page without a session is loaded. */
const Outer = ({ children = <Skeleton /> }: { readonly children?: ReactNode }) => (
  <main className="mx-auto max-w-lg p-6">{children}</main>
)

/** A page without a session, which is loaded when it is shown. */
const Lazy = ({ children }: { readonly children: ReactNode }) => <Suspense fallback={<Outer />}>{children}</Suspense>

/** Shows what is within to who is signed in. When the session ends it stays, behind a dialog that asks to sign in. */
export const SessionGate = ({ children }: { readonly children: ReactNode }) => {
  const client = useQueryClient()
  const over = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isOver
  )
  const query = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      await openPortal()
      return api.session.get({ signal })
    },
    ...live(30_000)
  })
  const { data: session } = query
  /** Whether the invitation of the address was accepted. */
  const [isIn, setIn] = useState(false)
  const began = useCallback((next: Session) => {
    const before = client.getQueryData<Session>(key)
    // somebody else must not see what the one before them saw
    if (before !== undefined && (before.userId !== next.userId || before.workspaceId !== next.workspaceId)) {
      location.assign(pages)
      return
    }
    client.setQueryData(key, next)
    setOver(false)
    void client.invalidateQueries()
  }, [client])
  const isLive = session !== undefined && !over
  // the portal is not told of what else happens in the workspace: its pages ask by themselves
  useEffect(() => isLive && portal === undefined ? follow(client) : undefined, [client, isLive])
  const page = useMemo(() => location.pathname.slice(pages.length), [])

  // who a link is for need not be who is signed in
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
    if (portal !== undefined && isSignedOut(query.error)) return <PortalEnded />
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
