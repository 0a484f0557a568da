/** Sign-in with a password or at an OpenID Connect issuer: as a page, and as a form in a dialog when a session ends. */
import { queryOptions, useMutation, useQuery } from "@tanstack/react-query"
import type { Session } from "@wac/client/internal"
import { type ReactNode, useEffect, useState } from "react"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { emailInput, Field } from "../ui/Field.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { isSetUp, root, version } from "./Document.ts"
import { challengeIn, FactorForm } from "./FactorForm.tsx"
import { refusalOfLink } from "./Link.ts"
import { PasswordField, PasswordForm } from "./PasswordForm.tsx"
import { api, inShownWorkspace } from "./Service.ts"
import { shownSession } from "./ShownSession.ts"

/** The layout of pages that need no session: a card with a title, and links to the documentation. */
export const Outside = ({ children, title }: { readonly title: string; readonly children: ReactNode }) => {
  useEffect(() => {
    document.title = `${title} · wac`
  }, [title])
  return (
    <div className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <main className="card w-full max-w-sm space-y-5 p-6">
        <div className="flex items-center gap-2.5">
          <img src={`${root}favicon.svg`} alt="" className="size-7" />
          <h1 className="text-lg font-semibold tracking-tight">{title}</h1>
        </div>
        {children}
      </main>
      <footer className="flex flex-wrap justify-center gap-x-4 gap-y-1 text-[13px] text-muted">
        <a className="underline" href={`${root}docs`}>API documentation</a>
        <a className="underline" href={`${root}docs/errors`}>Errors</a>
        {version === undefined ? null : <span>wac {version}</span>}
      </footer>
    </div>
  )
}

/** The query for the sign-in method: passwords, or an issuer. */
export const methodQuery = queryOptions({
  queryKey: ["sign-in-method"],
  queryFn: ({ signal }) => api.session.method({ signal }),
  staleTime: Infinity
})

/** The address that starts a sign-in at the issuer, and then leads to the first page. */
const issuer = `${root}internal/oidc/sign-in`

/** {@link issuer}, where even people who are signed in at the issuer must prove who they are. */
export const freshIssuer = `${issuer}?fresh=true`

/** {@link issuer}, which then leads back to the current page. */
const issuerAndBack = (): string => `${issuer}?${new URLSearchParams({ page: location.pathname + location.search })}`

/** {@link issuer}, which then opens the workspace that the page shows. */
const issuerInPlace = (): string => {
  const shown = shownSession()
  return shown === undefined ? issuer : `${issuer}?${new URLSearchParams({ workspace: shown.workspaceId })}`
}

/** Polls for a session while the person signs in at the issuer in another tab. */
const useSignedInElsewhere = (onDone: (session: Session) => void): void => {
  const { data } = useQuery({
    queryKey: ["session-elsewhere"],
    queryFn: ({ signal }) => api.session.get({ signal }),
    refetchInterval: 2000,
    refetchIntervalInBackground: true,
    gcTime: 0
  })
  useEffect(() => {
    if (data !== undefined) onDone(data)
  }, [data, onDone])
}

const AnotherTab = ({ onDone }: { readonly onDone: (session: Session) => void }) => {
  useSignedInElsewhere(onDone)
  return (
    <>
      <a href={issuerInPlace()} target="_blank" rel="noreferrer" className={`${buttonClass("primary")} w-full`}>
        Sign in in another tab
      </a>
      <p role="status" className="mt-3 text-[13px] text-muted">This page continues as soon as you are signed in.</p>
    </>
  )
}

/** The form for signing in again after a session has ended; the page behind it stays as it is. */
export const SignInAgain = (
  { email, onDone }: { readonly email: string; readonly onDone: (session: Session) => void }
) => (
  <Loaded query={useQuery(methodQuery)} lines={2}>
    {({ method }) =>
      method === "oidc"
        ? <AnotherTab onDone={onDone} />
        : <SignInForm email={email} onDone={(session) => inShownWorkspace(session).then(onDone)} />}
  </Loaded>
)

const SignInForm = (
  { email, onDone }: { readonly email?: string; readonly onDone: (session: Session) => void }
) => {
  const signIn = useMutation({
    mutationFn: (form: FormData) =>
      api.session.signIn({ email: String(form.get("email")), password: String(form.get("password")) }),
    onSuccess: onDone
  })
  const challenge = challengeIn(signIn.error)
  if (challenge !== undefined) {
    return <FactorForm challenge={challenge} onBack={() => signIn.reset()} onDone={onDone} />
  }
  return (
    <PasswordForm isPending={signIn.isPending} onSubmit={(form) => signIn.mutate(form)}>
      <Field label="E-mail">
        {(control) => (
          <input
            {...control}
            name="email"
            {...emailInput}
            required
            autoComplete="username"
            defaultValue={email}
            className="field"
          />
        )}
      </Field>
      <PasswordField />
      <Failure error={signIn.error} />
      <Button look="primary" type="submit" isPending={signIn.isPending} className="w-full">Sign in</Button>
    </PasswordForm>
  )
}

const refusals: { readonly [reason: string]: string } = {
  role_not_allowed: "You were signed in, but you have no role in this service. Ask its admin for one.",
  invalid_credentials:
    "The identity provider did not confirm who you are, or signing in took too long or was begun in another browser. " +
    "Begin again.",
  provider_unavailable:
    "The identity provider cannot be reached at the moment, or does not work. Try again later. If this stays so, tell " +
    "the operator: the service's log has the cause."
}

/** Why signing in at the issuer failed, if the address has a failure. */
const Refused = () => {
  const [refusal] = useState(refusalOfLink)
  return refusal === undefined ? null : (
    <Notice tone="bad" role="alert">
      {refusals[refusal.reason] ?? "The identity provider did not sign you in."}
      <span className="block text-[13px]">
        Request <code className="font-mono">{refusal.requestId}</code>
      </span>
    </Notice>
  )
}

/** The page for signing in. `lostPassword` is shown where people have passwords. */
export const SignInPage = (
  { lostPassword, onDone }: { readonly lostPassword: ReactNode; readonly onDone: (session: Session) => void }
) => (
  <Outside title="Sign in">
    {isSetUp === false
      ? <Notice tone="warn">This service is not set up yet. Open the set-up link that it wrote to its log.</Notice>
      : null}
    <Loaded query={useQuery(methodQuery)} lines={2}>
      {({ method }) =>
        method === "oidc"
          ? (
            <>
              <Refused />
              <p className="text-muted">People sign in to this service at its identity provider.</p>
              <a href={issuerAndBack()} className={`${buttonClass("primary")} w-full`}>Sign in</a>
            </>
          )
          : (
            <>
              <SignInForm onDone={onDone} />
              {lostPassword}
            </>
          )}
    </Loaded>
  </Outside>
)
