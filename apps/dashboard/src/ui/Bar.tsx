/** A bar that is filled from the left, in proportion to a value's share of the whole. */

export const Bar = (
  { className = "", label, max, value }: {
    /**
     * What the bar measures; if omitted, the bar is hidden from screen readers, because a text beside it says the same.
     */
    readonly label?: string
    readonly value: number
    /** The value at which the bar is full. */
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
