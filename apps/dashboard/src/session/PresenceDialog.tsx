/** The dialog that asks the person to prove their presence, while the page behind it stays as it is. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useState, useSyncExternalStore } from "react"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere } from "../ui/Field.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { CodeField } from "./CodeField.tsx"
import * as Passkey from "./Passkey.ts"
import { PasswordField, PasswordForm } from "./PasswordForm.tsx"
import { endWait, isAwaited, subscribe } from "./Presence.ts"
import { api } from "./Service.ts"
import { freshIssuer, methodQuery } from "./SignIn.tsx"

const AtIssuer = () => (
  <div className="space-y-4">
    <p className="text-muted">Sign in again in another tab, then continue here.</p>
    <a href={freshIssuer} target="_blank" rel="noreferrer" className={`${buttonClass("secondary")} w-full`}>
      Sign in in another tab
    </a>
    <Button look="primary" className="w-full" onClick={() => endWait(true)}>Continue</Button>
  </div>
)

/** Asks for the password, or for a code or a passkey if the person has them. */
const AtService = ({ email }: { readonly email: string }) => {
  const [isByCode, setByCode] = useState(false)
  const { data: factor } = useQuery({
    queryKey: ["factor"],
    queryFn: ({ signal }) => api.account.factor({ signal })
  })
  const confirm = useMutation({
    mutationFn: (form: FormData) =>
      api.account.confirmSession(
        isByCode ? { code: String(form.get("code")) } : { password: String(form.get("password")) }
      ),
    onSuccess: () => endWait(true)
  })
  const sign = useMutation({
    mutationFn: async () =>
      api.account.confirmSession({ credential: await Passkey.sign(await api.account.startConfirming()) }),
    onSuccess: () => endWait(true)
  })
  return (
    <PasswordForm isPending={confirm.isPending} onSubmit={(form) => confirm.mutate(form)}>
      <p className="text-muted">
        This needs your {isByCode ? "code" : "password"}. What you have filled in is still here.
      </p>
      <input type="hidden" name="email" autoComplete="username" value={email} readOnly />
      {isByCode ? <CodeField error={confirm.error} /> : <PasswordField error={confirm.error} />}
      <Failure error={elsewhere(confirm.error, "code", "password") ?? sign.error} />
      <div className="flex flex-wrap justify-end gap-2">
        {Passkey.hasPasskeys && (factor?.passkeys.length ?? 0) > 0
          ? <Button isPending={sign.isPending} onClick={() => sign.mutate()}>Use a passkey</Button>
          : null}
        {factor?.isOn === true
          ? (
            <Button
              onClick={() => {
                confirm.reset()
                setByCode(!isByCode)
              }}
            >
              {isByCode ? "Use the password" : "Use a code"}
            </Button>
          )
          : null}
        <Button onClick={() => endWait(false)}>Cancel</Button>
        <Button look="primary" type="submit" isPending={confirm.isPending}>Confirm</Button>
      </div>
    </PasswordForm>
  )
}

const Proof = ({ email }: { readonly email: string }) => (
  <Loaded query={useQuery(methodQuery)} lines={2}>
    {({ method }) => method === "oidc" ? <AtIssuer /> : <AtService email={email} />}
  </Loaded>
)

/** The dialog is open while a request waits for a proof of the person's presence. */
export const PresenceDialog = ({ email }: { readonly email: string }) =>
  useSyncExternalStore(subscribe, isAwaited)
    ? (
      <Dialog title="Confirm that it is you" isDismissible onClose={() => endWait(false)} width="max-w-md">
        <Proof email={email} />
      </Dialog>
    )
    : null
