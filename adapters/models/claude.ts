/**
 * Whether a Claude model binds thinking blocks to the preceding content and refuses a forced tool choice. True for
 * Fable and Mythos from 5.1, and for the others from 5.5 (Anthropic's pages on preserved thinking and on each model's
 * changes).
 */
export function bindsThinking(model: string): boolean {
  const match = /^claude-([a-z]+)-(\d{1,2})(?:-(\d{1,2}))?(?:-|$)/.exec(model)
  if (!match) return false
  const version = Number(match[2]) * 100 + Number(match[3] ?? 0)
  return version >= (match[1] === 'fable' || match[1] === 'mythos' ? 501 : 505)
}
