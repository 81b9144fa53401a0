//! Which groups hold text of the document, and which hold information about it.

/// The content of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    Body,
    /// Content that is skipped.
    Skip,
    Fonts,
    Styles,
    /// The number or bullet before a paragraph.
    ListLabel,
    Note,
    TextBox,
    /// The instruction of a field.
    Instruction,
    /// Two forms of one text, of which the one marked as Unicode is used.
    TwoForms,
}

/// Content that is left out with a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OmittedGroup {
    Image,
    Comment,
    HeaderOrFooter,
}

/// The destination that a group's first word selects; none if it is an ordinary word.
pub(super) fn destination(word: &str, is_starred: bool) -> Option<(Destination, Option<OmittedGroup>)> {
    use Destination::{Body, Fonts, Instruction, ListLabel, Note, Skip, Styles, TextBox, TwoForms};
    let found = match word {
        "fonttbl" => Fonts,
        "stylesheet" => Styles,
        "listtext" | "pntext" => ListLabel,
        "footnote" => Note,
        "shptxt" | "dptxbxtext" => TextBox,
        "fldinst" => Instruction,
        "upr" => TwoForms,
        "pict" => return Some((Skip, Some(OmittedGroup::Image))),
        "annotation" => return Some((Skip, Some(OmittedGroup::Comment))),
        "header" | "headerl" | "headerr" | "headerf" | "footer" | "footerl" | "footerr" | "footerf" => {
            return Some((Skip, Some(OmittedGroup::HeaderOrFooter)));
        }
        // A character style, starred for readers without styles, is not a group's destination.
        "cs" => return None,
        // Starred groups, which readers may skip, may have text all the same.
        "shpinst" | "do" | "shppict" | "ud" | "moMath" | "moMathPara" | "fldrslt" => Body,
        "colortbl" | "info" | "nonshppict" | "shprslt" | "sp" | "xe" | "tc" | "tcn" | "rxe" | "txe"
        | "nonesttables" | "ftnsep" | "ftnsepc" | "ftncn" | "aftnsep" | "aftnsepc" | "aftncn" | "pn" | "pnseclvl"
        | "objdata" | "objclass" | "objname" | "filetbl" | "revtbl" | "private" | "fldtype" | "template"
        | "listtable" | "listoverridetable" | "list" | "listlevel" | "leveltext" | "levelnumbers" | "listname"
        | "listoverride" | "generator" => Skip,
        _ => {
            let is_passed_over = is_starred || (word.starts_with('m') && word.ends_with("Pr"));
            return is_passed_over.then_some((Skip, None));
        }
    };
    Some((found, None))
}

/// A character that a word stands for.
pub(super) fn character(word: &str) -> Option<&'static str> {
    Some(match word {
        "tab" => "\t",
        "line" | "softline" | "column" | "nestrow" => "\n",
        "lquote" => "‘",
        "rquote" => "’",
        "ldblquote" => "“",
        "rdblquote" => "”",
        "bullet" => "•",
        "endash" => "–",
        "emdash" => "—",
        "enspace" | "emspace" | "qmspace" | "nestcell" => " ",
        _ => return None,
    })
}
