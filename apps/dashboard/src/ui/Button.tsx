/** Buttons. A button that may not be pressed, for example because of the role, can still be focused, and shows why. */
import { Tooltip } from "@base-ui/react/tooltip"
import type { ComponentPropsWithRef, ReactElement, ReactNode } from "react"
import { Icon, type IconName } from "./Icon.tsx"

const looks = {
  primary: "bg-brand text-on-brand border-transparent hover:bg-brand-strong",
  secondary: "bg-surface text-ink border-edge/60 hover:bg-sunken",
  danger: "bg-surface text-bad border-bad/50 hover:bg-bad-soft",
  destroy: "bg-bad text-on-bad border-transparent hover:opacity-90",
  quiet: "text-ink border-transparent hover:bg-sunken"
} as const

/** The look of a button, for links that act like one. */
export const buttonClass = (look: keyof typeof looks = "secondary", isSmall = false): string =>
  `inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none ${
    isSmall ? "min-h-7 px-2 text-[13px]" : "min-h-9 px-3"
  } ${looks[look]}`

const blocked = "opacity-60 cursor-not-allowed!"

interface ButtonProps extends Omit<ComponentPropsWithRef<"button">, "className"> {
  readonly look?: keyof typeof looks
  readonly small?: boolean
  readonly icon?: IconName | undefined
  /** Why the button may not be pressed; `undefined` if it may. */
  readonly refusal?: string | undefined
  /** Whether the button's action is in progress. */
  readonly isPending?: boolean
  readonly className?: string
}

/** A button. While it may not be pressed, or its action is in progress, a press does nothing. */
export const Button = (
  { children, className = "", icon, isPending = false, look, onClick, refusal, small, type = "button", ...rest }:
    ButtonProps
) => {
  const isBlocked = refusal !== undefined
  const { "aria-label": label } = rest
  const button = (
    <button
      {...rest}
      // a label would hide the refusal in the button's text from screen readers
      aria-label={isBlocked && label !== undefined ? `${label} (${refusal})` : label}
      type={isBlocked ? "button" : type}
      aria-disabled={isBlocked || isPending ? true : undefined}
      aria-busy={isPending ? true : undefined}
      onClick={isBlocked || isPending ? (event) => event.preventDefault() : onClick}
      className={`${buttonClass(look, small)} ${isBlocked || isPending ? blocked : ""} ${className}`}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
      {isBlocked ? <span className="sr-only">({refusal})</span> : null}
    </button>
  )
  return isBlocked ? <Hint text={refusal} button={button} /> : button
}

/** A hint on hover and on focus, above everything else; screen readers get its text from the button itself. */
const Hint = ({ button, text }: { readonly text: string; readonly button: ReactElement<Record<string, unknown>> }) => (
  <Tooltip.Root>
    <Tooltip.Trigger render={button} delay={0} closeOnClick={false} />
    <Tooltip.Portal>
      <Tooltip.Positioner sideOffset={6} align="start" className="z-50">
        <Tooltip.Popup
          aria-hidden="true"
          className="max-w-xs rounded-md bg-ink px-2.5 py-1.5 text-[13px] text-canvas shadow-lg"
        >
          {text}
        </Tooltip.Popup>
      </Tooltip.Positioner>
    </Tooltip.Portal>
  </Tooltip.Root>
)

/** A row of buttons. */
export const Actions = ({ children }: { readonly children: ReactNode }) => (
  <div className="flex flex-wrap items-center gap-2">{children}</div>
)
