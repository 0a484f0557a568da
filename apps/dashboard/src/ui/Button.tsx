/** Buttons, and what a role may not press: it stays in reach of the keyboard and tells why. */
import { type ComponentPropsWithRef, type ReactNode, useRef } from "react"
import { Icon, type IconName } from "./Icon.tsx"

const looks = {
  primary: "bg-accent text-on-accent border-transparent hover:bg-accent-strong",
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
  /** Why it cannot be pressed; nothing if it can. */
  readonly refusal?: string | undefined
  /** Whether what it does is under way. */
  readonly isPending?: boolean
  readonly className?: string
}

export const Button = (
  { children, className = "", icon, isPending = false, look, onClick, refusal, small, type = "button", ...rest }:
    ButtonProps
) => {
  const isBlocked = refusal !== undefined
  const button = (
    <button
      {...rest}
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
  return isBlocked ? <Hint text={refusal}>{button}</Hint> : button
}

/** How far a hint stays from what it is about, and from the edges of the window, in pixels. */
const distance = 6

/** A hint on hover and on focus, above everything else; screen readers have the words from the button itself. */
const Hint = ({ children, text }: { readonly text: string; readonly children: ReactNode }) => {
  const popup = useRef<HTMLSpanElement>(null)
  const show = (around: Element) => {
    const element = popup.current
    if (element === null || element.matches(":popover-open")) return
    element.showPopover()
    const { bottom, left, top } = around.getBoundingClientRect()
    const { height, width } = element.getBoundingClientRect()
    const below = bottom + distance
    element.style.left = `${Math.max(distance, Math.min(left, innerWidth - width - distance))}px`
    element.style.top = `${below + height > innerHeight ? top - height - distance : below}px`
  }
  const hide = () => popup.current?.hidePopover()
  return (
    <span
      className="inline-flex"
      onPointerEnter={(event) => show(event.currentTarget)}
      onPointerLeave={hide}
      onFocus={(event) => show(event.currentTarget)}
      onBlur={hide}
      onKeyDown={(event) => {
        if (event.key === "Escape") hide()
      }}
    >
      {children}
      <span
        ref={popup}
        popover="manual"
        aria-hidden="true"
        className="inset-auto m-0 max-w-xs rounded-md bg-ink px-2.5 py-1.5 text-[13px] text-canvas shadow-lg"
      >
        {text}
      </span>
    </span>
  )
}

/** Buttons beside each other. */
export const Actions = ({ children }: { readonly children: ReactNode }) => (
  <div className="flex flex-wrap items-center gap-2">{children}</div>
)
