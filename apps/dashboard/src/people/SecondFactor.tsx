/** The section that sets up a person's second factor, renews the recovery codes, and switches the factor off. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { FactorEnrolment } from "@wac/client/internal"
import { useState } from "react"
import { CodeField } from "../session/CodeField.tsx"
import { mayBeDone } from "../session/Once.ts"
import { PasswordForm } from "../session/PasswordForm.tsx"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"
import { AskBeforeLeaving } from "../ui/AskBeforeLeaving.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Code, Secret } from "../ui/Copy.tsx"
import { Confirm, Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere } from "../ui/Field.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Section } from "../ui/Page.tsx"
import { type GetsCodes, Passkeys } from "./Passkeys.tsx"
import { QrCode } from "./QrCode.tsx"

/** The dialog with the recovery codes. They are shown only once, so a click beside the dialog does not close it. */
const Recovery = ({ codes, onDone }: { readonly codes: ReadonlyArray<string>; readonly onDone: () => void }) => {
  const text = codes.join("\n")
  return (
    <Dialog title="Recovery codes" isDismissible={false} onClose={onDone} width="max-w-md">
      <AskBeforeLeaving onLeave={onDone} />
      <div className="space-y-4">
        <p>
          Keep these recovery codes in a safe place. Each replaces your app or passkey once, if you have lost it. They
          are shown only now.
        </p>
        <Code label="Recovery codes" text={text} />
        <div className="flex flex-wrap justify-end gap-2">
          <a
            className={buttonClass("secondary")}
            download="wac-recovery-codes.txt"
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
          >
            Download
          </a>
          <Button look="primary" onClick={onDone}>I have kept them</Button>
        </div>
      </div>
    </Dialog>
  )
}

const Enrolment = ({ enrolment, onClose, onCodes, onFailed }: {
  readonly enrolment: FactorEnrolment
  readonly onClose: () => void
} & GetsCodes) => {
  const confirm = useMutation({
    mutationFn: (form: FormData) => api.account.confirmFactor({ code: String(form.get("code")) }),
    onSuccess: ({ recoveryCodes }) => onCodes(recoveryCodes),
    onError: onFailed
  })
  return (
    <Dialog title="Set up an authenticator app" isDismissible={!confirm.isPending} onClose={onClose} width="max-w-md">
      <PasswordForm
        isPending={confirm.isPending}
        onSubmit={(form) =>
          confirm.mutate(form)}
      >
        <p>Scan this with an authenticator app, or type the secret into it. Then enter the code that the app shows.</p>
        <QrCode label="The secret as a QR code" text={enrolment.uri} />
        <Secret label="Secret" value={enrolment.secret} />
        <CodeField isFirst error={confirm.error} />
        <Failure error={elsewhere(confirm.error, "code")} />
        <div className="flex justify-end">
          <Button look="primary" type="submit" isPending={confirm.isPending}>Switch on</Button>
        </div>
      </PasswordForm>
    </Dialog>
  )
}

const SetUp = ({ onCodes, onFailed }: GetsCodes) => {
  const start = useMutation({ mutationFn: () => api.account.startFactor() })
  return (
    <>
      <Button isPending={start.isPending} onClick={() => start.mutate()}>Set up an app</Button>
      <Failure error={start.error} />
      {start.data === undefined ?
        null :
        (
          <Enrolment
            enrolment={start.data}
            onClose={() => start.reset()}
            onFailed={onFailed}
            onCodes={(codes) => {
              start.reset()
              onCodes(codes)
            }}
          />
        )}
    </>
  )
}

const NewCodes = ({ onCodes, onFailed }: GetsCodes) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>New recovery codes…</Button>
      {isOpen ?
        (
          <Confirm
            title="Make new recovery codes?"
            action="Make new codes"
            look="primary"
            act={() =>
              api.account.renewRecoveryCodes().catch((error: unknown) => {
                onFailed(error)
                throw error
              })}
            onClose={() => setOpen(false)}
            onDone={({ recoveryCodes }) => {
              setOpen(false)
              onCodes(recoveryCodes)
            }}
          >
            Then your recovery codes of before are no longer valid. Your authenticator app and your passkeys stay as
            they are.
          </Confirm>
        ) :
        null}
    </>
  )
}

const SwitchOff = () => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>Switch off…</Button>
      {isOpen ?
        (
          <Confirm
            title="Switch the second factor off?"
            action="Switch off"
            act={() => api.account.removeFactor()}
            onClose={() => setOpen(false)}
          >
            Then your password alone is enough to sign in. Your app, your passkeys and your recovery codes are no longer
            valid.
          </Confirm>
        ) :
        null}
    </>
  )
}

export const SecondFactor = () => {
  const client = useQueryClient()
  const query = useQuery({
    queryKey: ["factor"],
    queryFn: ({ signal }) => api.account.factor({ signal }),
    ...live(30_000)
  })
  /** The new recovery codes. They are kept here, because the part that got them disappears once the factor is on. */
  const [codes, setCodes] = useState<ReadonlyArray<string>>()
  /** Whether recovery codes may have been made of which this page has not shown any. */
  const [isLost, setLost] = useState(false)
  const got = (codes: ReadonlyArray<string>) => {
    if (codes.length > 0) {
      setCodes(codes)
      setLost(false)
    }
    void client.invalidateQueries()
  }
  const failed = (error: unknown) => {
    if (!mayBeDone(error)) return
    setLost(true)
    void client.invalidateQueries()
  }
  /** A second factor besides another one makes no recovery codes. */
  const added = { onCodes: got, onFailed: query.data?.isOn === true ? () => undefined : failed }
  return (
    <Section title="Second factor" description="A passkey or a code of an authenticator app, besides your password.">
      <Loaded query={query} lines={1}>
        {({ hasApp, isOn, passkeys, recoveryCodesLeft }) => (
          <div className="max-w-xl space-y-4">
            {isOn
              ? (
                <>
                  <Notice tone={recoveryCodesLeft === 0 ? "warn" : "good"}>
                    On. Recovery codes left: {recoveryCodesLeft}.
                    {recoveryCodesLeft === 0 ? " Make new ones, in case you lose what you sign in with." : ""}
                  </Notice>
                  {isLost
                    ? (
                      <Notice tone="warn" role="alert">
                        New recovery codes may have been made that were not shown, because the response was lost. Your
                        recovery codes of before may no longer be valid. Make new ones.
                      </Notice>
                    )
                    : null}
                  {hasApp ? <p className="text-muted">Codes of your authenticator app are accepted.</p> : null}
                  <Passkeys passkeys={passkeys} hasApp={hasApp} {...added} />
                  <div className="flex flex-wrap gap-2">
                    {hasApp ? null : <SetUp {...added} />}
                    <NewCodes onCodes={got} onFailed={failed} />
                    <SwitchOff />
                  </div>
                </>
              )
              : (
                <div className="flex flex-wrap gap-2">
                  <Passkeys passkeys={passkeys} hasApp={hasApp} {...added} />
                  <SetUp {...added} />
                </div>
              )}
          </div>
        )}
      </Loaded>
      {codes === undefined ? null : (
        <Recovery
          codes={codes}
          onDone={() => setCodes(undefined)}
        />
      )}
    </Section>
  )
}
