/** Small line icons, drawn by hand on a grid of 16; they are never the only carrier of a meaning. */

const paths = {
  arrow: "M3 8h10M9 4l4 4-4 4",
  bell: "M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3zM6.5 14.5h3",
  campaign: "M2.5 6.5v3h2.2l6.3 3.2V3.3L4.7 6.5zM5 9.7l.8 3.3M13.3 6.6v2.8",
  check: "M3 8.5l3.5 3.5L13 4.5",
  chevron: "M6 3.5L10.5 8 6 12.5",
  circle: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z",
  clock: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 5v3.2l2.2 1.6",
  contact: "M8 2.5a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM2.8 13.5c.6-2.4 2.6-3.6 5.2-3.6s4.6 1.2 5.2 3.6",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  cross: "M4 4l8 8M12 4l-8 8",
  delivery: "M2 8h9M8 4.5L11.5 8 8 11.5M13.8 3v10",
  event: "M8.8 2L4 9h3.4L7 14l5-7H8.5z",
  home: "M2.5 7.5L8 3l5.5 4.5V13h-4V9.5h-3V13h-4z",
  key: "M10.2 2.8a3.2 3.2 0 1 1-1 6.1L7.5 10.6H6v1.6H4.4v1.3H2.5v-2l4.7-4.7a3.2 3.2 0 0 1 3-4z",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1",
  members:
    "M6 3a2.4 2.4 0 1 1 0 4.8A2.4 2.4 0 0 1 6 3zM1.8 13c.4-2.2 2-3.3 4.2-3.3s3.8 1.1 4.2 3.3M10.5 3.4a2.3 2.3 0 0 1 0 4.1M12 10c1.2.4 1.9 1.4 2.2 3",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  message: "M2.5 3.5h11v7.5H8l-3 2.5V11H2.5z",
  minus: "M3.5 8h9",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  person: "M8 2.5a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM2.8 13.5c.6-2.4 2.6-3.6 5.2-3.6s4.6 1.2 5.2 3.6",
  phone: "M5 2.5h6v11H5zM7.3 11.5h1.4",
  refresh: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.7h-2.7",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.3 10.3l3.2 3.2",
  shield: "M8 2.2l4.8 1.8v3.6c0 3-2 5.2-4.8 6.2-2.8-1-4.8-3.2-4.8-6.2V4z",
  start: "M4 13.5v-11l8 3-8 3.2",
  template: "M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3",
  usage: "M3 13.5V9M6.4 13.5v-6M9.7 13.5V5M13 13.5v-11",
  warning: "M8 2.5l6 11H2zM8 6.5v3.2M8 11.6v.1",
  webhook:
    "M8 6.2L5.6 10.6M8 6.2a2 2 0 1 0-1.9-1.4M5 12.4h4.6M5 12.4a2 2 0 1 1-.5-3.4M8.6 6l2.3 4.3M10.6 10.3a2 2 0 1 1-.9 2.9"
} as const

export type IconName = keyof typeof paths

export const Icon = ({ className = "", name }: { readonly name: IconName; readonly className?: string }) => (
  <svg
    viewBox="0 0 16 16"
    width="16"
    height="16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    className={`shrink-0 ${className}`}
  >
    <path d={paths[name]} />
  </svg>
)
