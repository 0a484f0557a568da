/** A bar that fills from the left, as large as its part of the whole. */

export const Bar = (
  { className = "", label, max, value }: {
    /** What the bar measures; without it, the words beside the bar say it all. */
    readonly label?: string
    readonly value: number
    /** The whole; nothing of it is an empty bar. */
    readonly max: number
    readonly className?: string
  }
) => {
  const whole = Math.max(max, 1)
  const part = Math.min(Math.max(value, 0), whole)
  return (
    <svg
      viewBox="0 0 100 1"
      preserveAspectRatio="none"
      className={`block h-2 w-full rounded-sm bg-sunken ${className}`}
      {...(label === undefined ? { "aria-hidden": true } : {
        role: "progressbar",
        "aria-label": label,
        "aria-valuemin": 0,
        "aria-valuemax": whole,
        "aria-valuenow": part
      })}
    >
      <rect width={part / whole * 100} height="1" className="fill-accent" />
    </svg>
  )
}
