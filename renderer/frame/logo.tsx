/** Five notches on a stick, the last across the others. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" fill="none" className={className} aria-hidden>
      <rect width="32" height="32" rx="7" fill="currentColor" />
      <path
        d="M9 9v14M14 9v14M19 9v14M24 9v14M6 21 27 11"
        stroke="var(--surface)"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
    </svg>
  );
}
