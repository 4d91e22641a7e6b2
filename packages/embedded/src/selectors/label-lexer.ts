export interface Token {
  readonly kind: 'word' | 'symbol' | 'end'
  readonly text: string
}

const TOKEN = /\s*(?:(==|!=|[=<>!(),])|([^\s=<>!(),]+))/y

/** Splits a label selector into words and symbols (k8s.io/apimachinery/pkg/labels). */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [, symbol, word] = match
    tokens.push(symbol === undefined ? { kind: 'word', text: word ?? '' } : { kind: 'symbol', text: symbol })
  }
  return [...tokens, { kind: 'end', text: '' }]
}
