/** The second step of a sign-in, after a correct password: the person uses a passkey or enters a code. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { type EndSignIn, type Session, WacError } from "@wac/client/internal"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere } from "../ui/Field.tsx"
import { CodeField } from "./CodeField.tsx"
import * as Passkey from "./Passkey.ts"
import { PasswordForm } from "./PasswordForm.tsx"
import { api } from "./Service.ts"

/** The challenge in the error of a sign-in that needs a second factor; `undefined` for any other error. */
export const challengeIn = (error: unknown): string | undefined =>
  error instanceof WacError && error.reason === "second_factor_required" ? error.challenge : undefined

/** A code, or a passkey that has signed the challenge. */
export type Proof = Pick<EndSignIn, "code" | "credential">

interface Ending {
  readonly challenge: string
  /** Sends the proof; by default, ends the sign-in of the challenge. */
  readonly send: (proof: Proof) => Promise<Session>
  readonly onDone: (session: Session) => void
}

/** The button that signs in by a passkey, if the person has one. */
const ByPasskey = ({ challenge, onDone, send }: Ending) => {
  const { data: options, error } = useQuery({
    queryKey: ["sign-in-passkey", challenge],
    queryFn: ({ signal }) => api.session.requestPasskey({ challenge }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false
  })
  const end = useMutation({
    mutationFn: async (request: NonNullable<typeof options>) => send({ credential: await Passkey.sign(request) }),
    onSuccess: onDone
  })
  if (error !== null) return <Failure error={error} />
  if (options === undefined || options.allowCredentials.length === 0) return null
  return (
    <div className="space-y-4">
      <Button look="primary" isPending={end.isPending} onClick={() => end.mutate(options)} className="w-full">
        Use a passkey
      </Button>
      <Failure error={end.error} />
    </div>
  )
}

/** The form for the second factor. `onBack` starts the sign-in again, because a challenge expires. */
export const FactorForm = (
  { challenge, onBack, onDone, send = (proof) => api.session.endSignIn({ challenge, ...proof }) }:
    & Omit<Ending, "send">
    & Partial<Pick<Ending, "send">>
    & { readonly onBack: () => void }
) => {
  const end = useMutation({
    mutationFn: (form: FormData) => send({ code: String(form.get("code")) }),
    onSuccess: onDone
  })
  return (
    <div className="space-y-4">
      {Passkey.hasPasskeys ? <ByPasskey challenge={challenge} send={send} onDone={onDone} /> : null}
      <PasswordForm isPending={end.isPending} onSubmit={(form) => end.mutate(form)}>
        <CodeField error={end.error} />
        <Failure error={elsewhere(end.error, "code")} />
        <Button look="primary" type="submit" isPending={end.isPending} className="w-full">Continue</Button>
        <Button onClick={onBack} className="w-full">Begin again</Button>
      </PasswordForm>
    </div>
  )
}
