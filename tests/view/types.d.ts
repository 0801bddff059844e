// Types of what the page gets from the daemon, for checking the page's script with tsc. Not a part of the page.

interface Failure {
  code: string;
  message: string;
  field?: string;
  hint?: string;
}

interface FacetValue {
  value: string;
  name?: string;
  count: number;
}

interface Facets {
  total: number;
  type: FacetValue[];
  project: FacetValue[];
  client: FacetValue[];
  trust: FacetValue[];
  status: FacetValue[];
  month: FacetValue[];
}

interface Project {
  id: string;
  name: string;
  aliases?: string[];
  active: number;
  memories: number;
  isolated?: boolean;
  off?: boolean;
}

interface Boot {
  version: string;
  key?: string;
  proof_secret?: string;
  session: object;
  project: { id: string; name: string } | null;
  read_only?: boolean;
  time_travel?: boolean;
  groups: Project[];
  list: { memories: any[]; total: number; next?: number } | null;
  facets: Facets;
}

interface View {
  element: any;
  refresh?: (isForced?: boolean) => any;
  update?: (route: { view: string; id: string; query: URLSearchParams }) => boolean;
  close?: () => void;
  focus?: () => any;
  focusList?: () => boolean;
  escape?: () => void;
  drop?: (file: File) => any;
  keys?: [string, string, () => any][];
}
