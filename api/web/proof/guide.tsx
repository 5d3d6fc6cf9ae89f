import guide from '../../docs/proof.md?raw'
import { Markdown } from '../parts/markdown.tsx'

/** Links to other pages of the documentation, which the page does not have. */
const RELATIVE_LINK = /\[([^\]]+)\]\((?!https:)[^)]*\)/g

/** The documentation of proofs. */
export const Guide = () => <Markdown text={guide.replace(RELATIVE_LINK, '$1')} />
