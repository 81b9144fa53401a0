//! Directives of reStructuredText, by what their text is: prose, a note, or nobody's prose.

/// What is indented under it is code, a list of files or a picture.
pub(super) fn is_verbatim(name: &str) -> bool {
    matches!(
        name.rsplit(':').next().unwrap_or(name),
        "code"
            | "code-block"
            | "sourcecode"
            | "literalinclude"
            | "parsed-literal"
            | "math"
            | "image"
            | "figure"
            | "toctree"
            | "highlight"
            | "productionlist"
            | "raw"
            | "doctest"
            | "testcode"
            | "testoutput"
            | "testsetup"
            | "graphviz"
            | "ipython"
            | "include"
            | "contents"
            | "index"
            | "meta"
            | "prompt"
            | "console"
            | "plot"
            | "automodule"
            | "autoclass"
            | "autofunction"
    )
}

/// Its argument is the first line of its text: `.. note:: The door must close.`
pub(super) fn is_admonition(name: &str) -> bool {
    matches!(
        name,
        "note"
            | "warning"
            | "important"
            | "caution"
            | "danger"
            | "attention"
            | "tip"
            | "hint"
            | "error"
            | "seealso"
            | "versionadded"
            | "versionchanged"
            | "deprecated"
    )
}
